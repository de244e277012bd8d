// What all elements have in common: ports, settings, a figure to look at, and a way to pass packets on.

/// What is written in parentheses behind an element's class, separated by commas.
class Settings {
public:
    explicit Settings(std::vector<std::string> words) : words_(words) {}

    size_t size() const { return words_.size(); }
    const std::string &word(size_t at) const { return words_[at]; }

    int number(size_t at, int otherwise) const
    {
        if (at >= words_.size())
            return otherwise;
        char *end;
        long value = strtol(words_[at].c_str(), &end, 0);
        if (*end != '\0')
            give_up("\"" + words_[at] + "\" should be a number");
        return static_cast<int>(value);
    }

private:
    std::vector<std::string> words_;
};

/// How many times packets went from one element to another, over all threads. Nothing protects it.
static long hops;

class Element {
public:
    virtual ~Element() {}

    /// Takes the settings, before anything is connected.
    virtual void configure(const Settings &) {}
    /// Gets ready, once everything is connected.
    virtual void initialize() {}
    /// The task that makes packets move, for elements that have one.
    virtual Task *task() { return nullptr; }
    /// What the element has counted, for main to look at.
    virtual long figure() const { return passed_; }

    /// A packet comes in. Most elements do something to it and pass it on.
    virtual void push(int, Packet *packet)
    {
        packet = simple_action(packet);
        if (packet != nullptr)
            send(0, packet);
    }

    /// A packet is asked for. Most elements ask further and do something to it.
    virtual Packet *pull(int)
    {
        Packet *packet = ask(0);
        return packet == nullptr ? nullptr : simple_action(packet);
    }

    void connect(int output, Element *next, int input)
    {
        if (output >= MOST_PORTS || input >= MOST_PORTS)
            give_up("an element does not have that many ports");
        outputs_[output] = { next, input };
        next->inputs_[input] = { this, output };
    }

protected:
    static const int MOST_PORTS = 6;

    /// What the element does to a packet that passes through; nothing is left of it if it was dropped.
    virtual Packet *simple_action(Packet *packet)
    {
        passed_++;
        return packet;
    }

    /// Passes a packet on, or drops it where nothing is connected.
    void send(int output, Packet *packet)
    {
        hops++;
        if (output < MOST_PORTS && outputs_[output].element != nullptr)
            outputs_[output].element->push(outputs_[output].port, packet);
        else
            packet->kill();
    }

    Packet *ask(int input)
    {
        hops++;
        return inputs_[input].element == nullptr ? nullptr : inputs_[input].element->pull(inputs_[input].port);
    }

    bool has_input(int input) const { return input < MOST_PORTS && inputs_[input].element != nullptr; }
    bool has_output(int output) const { return output < MOST_PORTS && outputs_[output].element != nullptr; }
    Element *next(int output) const { return outputs_[output].element; }

    long passed_ = 0;

private:
    struct Connection {
        Element *element;
        int port;
    };
    Connection outputs_[MOST_PORTS] = {};
    Connection inputs_[MOST_PORTS] = {};
};
