// All classes of elements by name, and the elements that were made.

template <class E> static Element *make_element()
{
    return new E;
}

static const std::map<std::string, Element *(*)()> catalogue = {
    { "ARPQuerier", make_element<ARPQuerier> },
    { "ARPResponder", make_element<ARPResponder> },
    { "AverageCounter", make_element<AverageCounter> },
    { "CheckIPHeader", make_element<CheckIPHeader> },
    { "CheckLength", make_element<CheckLength> },
    { "CheckPaint", make_element<CheckPaint> },
    { "CheckSignature", make_element<CheckSignature> },
    { "Classifier", make_element<Classifier> },
    { "Counter", make_element<Counter> },
    { "DecIPTTL", make_element<DecIPTTL> },
    { "Discard", make_element<Discard> },
    { "EtherEncap", make_element<EtherEncap> },
    { "FrontDropQueue", make_element<FrontDropQueue> },
    { "HashSwitch", make_element<HashSwitch> },
    { "HostEtherFilter", make_element<HostEtherFilter> },
    { "ICMPError", make_element<ICMPError> },
    { "IPFilter", make_element<IPFilter> },
    { "IPFragmenter", make_element<IPFragmenter> },
    { "IPMirror", make_element<IPMirror> },
    { "IPRewriter", make_element<IPRewriter> },
    { "Idle", make_element<Idle> },
    { "LookupRoute", make_element<LookupRoute> },
    { "Meter", make_element<Meter> },
    { "Paint", make_element<Paint> },
    { "PrioSched", make_element<PrioSched> },
    { "Print", make_element<Print> },
    { "Queue", make_element<Queue> },
    { "RED", make_element<RED> },
    { "RandomSample", make_element<RandomSample> },
    { "RoundRobinSched", make_element<RoundRobinSched> },
    { "SetIPChecksum", make_element<SetIPChecksum> },
    { "SetTOS", make_element<SetTOS> },
    { "Shaper", make_element<Shaper> },
    { "StoreData", make_element<StoreData> },
    { "Strip", make_element<Strip> },
    { "Suppressor", make_element<Suppressor> },
    { "Switch", make_element<Switch> },
    { "Tee", make_element<Tee> },
    { "TraceSource", make_element<TraceSource> },
    { "Unqueue", make_element<Unqueue> },
    { "Unstrip", make_element<Unstrip> },
};

class Router {
public:
    ~Router()
    {
        for (Element *element : elements_)
            delete element;
    }

    static bool is_class(const std::string &name) { return catalogue.count(name) > 0; }

    Element *add(const std::string &name, const std::string &class_name, const Settings &settings)
    {
        if (names_.count(name) > 0)
            give_up("there are two elements called \"" + name + "\"");
        auto found = catalogue.find(class_name);
        if (found == catalogue.end())
            give_up("there is no class \"" + class_name + "\"; catalogue.h lists them");
        Element *element = found->second();
        element->configure(settings);
        elements_.push_back(element);
        names_[name] = element;
        return element;
    }

    Element *named(const std::string &name) const
    {
        auto found = names_.find(name);
        if (found == names_.end())
            give_up("there is no element called \"" + name + "\"");
        return found->second;
    }

    /// Sources run on the first thread and everything else that has a task on the second.
    void initialize()
    {
        for (Element *element : elements_) {
            element->initialize();
            if (element->task() != nullptr)
                driver.add_task(element->task(), dynamic_cast<TraceSource *>(element) != nullptr ? 0 : 1);
        }
    }

    const std::vector<Element *> &elements() const { return elements_; }

private:
    std::vector<Element *> elements_;
    std::map<std::string, Element *> names_;
};
