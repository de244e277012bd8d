// Which way a packet goes: by its kind, or by the network it is for.

/// Classifier(KIND, ...): the first kind that fits, of `arp`, `ip`, `tcp`, `udp`, `icmp` and `-` for all, says the
/// output. `arp` and `ip` look at the Ethernet header, the others at the IP header.
class Classifier : public Element {
public:
    void configure(const Settings &settings) override
    {
        for (size_t i = 0; i < settings.size() && count_ < MOST_PORTS; i++)
            kinds_[count_++] = kind_of(settings.word(i));
    }

    long figure() const override { return unknown_; }

    void push(int, Packet *packet) override
    {
        for (int i = 0; i < count_; i++) {
            if (fits(kinds_[i], packet)) {
                passed_++;
                send(i, packet);
                return;
            }
        }
        unknown_++;
        packet->kill();
    }

private:
    struct Kind {
        unsigned type;
        unsigned protocol;
    };

    static Kind kind_of(const std::string &word)
    {
        static const std::map<std::string, Kind> known = { { "arp", { ARP_TYPE, 0 } }, { "ip", { IP_TYPE, 0 } },
                                                           { "tcp", { 0, 6 } },        { "udp", { 0, 17 } },
                                                           { "icmp", { 0, 1 } },       { "-", { 0, 0 } } };
        auto found = known.find(word);
        if (found == known.end())
            give_up("Classifier does not know \"" + word + "\"");
        return found->second;
    }

    static bool fits(const Kind &kind, const Packet *packet)
    {
        if (kind.type != 0)
            return packet->type() == kind.type;
        return kind.protocol == 0 || packet->protocol() == kind.protocol;
    }

    Kind kinds_[MOST_PORTS] = {};
    int count_ = 0;
    long unknown_ = 0;
};

/// Networks and the output for each. The longest network that fits counts.
class RouteTable {
public:
    ~RouteTable() { count_ = GONE; }

    void add(unsigned network, int bits, int output)
    {
        if (count_ == MOST_ROUTES)
            give_up("there are too many routes");
        routes_[count_++] = { network, bits == 0 ? 0 : ~0u << (32 - bits), output };
    }

    int output_for(unsigned address) const
    {
        assert(count_ != GONE && "the table is still there");
        int best = -1;
        for (int i = 0; i < count_; i++)
            if ((address & routes_[i].mask) == routes_[i].network && (best < 0 || routes_[i].mask > routes_[best].mask))
                best = i;
        return best < 0 ? -1 : routes_[best].output;
    }

    RouteTable *copy() const { return new RouteTable(*this); }

private:
    static const int MOST_ROUTES = 8;
    static const int GONE = -1;
    struct Route {
        unsigned network;
        unsigned mask;
        int output;
    };
    Route routes_[MOST_ROUTES] = {};
    int count_ = 0;
};

/// LookupRoute(NETWORK/BITS OUTPUT, ...): the way to a packet's destination.
class LookupRoute : public Element {
public:
    ~LookupRoute() override { delete table_; }

    void configure(const Settings &settings) override
    {
        table_ = new RouteTable;
        for (size_t i = 0; i < settings.size(); i++)
            add_route(settings.word(i));
    }

    long figure() const override { return lost_; }

    /// Brings in a new table while packets flow.
    void replace_table()
    {
        RouteTable *old = table_;
        table_ = old->copy();
        delete old;
        replaced_++;
    }

    void push(int, Packet *packet) override
    {
        int output = table_->output_for(packet->destination());
        if (output < 0) {
            lost_++;
            packet->kill();
        } else {
            passed_++;
            send(output, packet);
        }
    }

private:
    void add_route(const std::string &text)
    {
        unsigned a, b, c, d;
        int bits, output;
        if (sscanf(text.c_str(), "%u.%u.%u.%u/%d %d", &a, &b, &c, &d, &bits, &output) != 6)
            give_up("\"" + text + "\" should be a network and an output, as in 10.0.0.0/16 1");
        table_->add(a << 24 | b << 16 | c << 8 | d, bits, output);
    }

    RouteTable *table_ = nullptr;
    int replaced_ = 0;
    long lost_ = 0;
};
