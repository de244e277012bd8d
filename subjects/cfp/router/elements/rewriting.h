// Addresses that are different inside and outside.

/// IPRewriter(NETWORK): what leaves gets an address of this network, and keeps it as long as it is remembered.
class IPRewriter : public Element {
public:
    void configure(const Settings &settings) override { network_ = settings.number(0, 0x7f000000); }
    long figure() const override { return mapped_; }

protected:
    Packet *simple_action(Packet *packet) override
    {
        Mapping *mapping = find(packet->source());
        if (mapping == nullptr)
            mapping = add(packet->source());
        mapping->packets++;
        packet->set_source(mapping->outside);
        passed_++;
        return packet;
    }

private:
    struct Mapping {
        unsigned inside;
        unsigned outside;
        int packets;
    };
    static const int MOST_MAPPINGS = 64;

    Mapping *find(unsigned inside)
    {
        Mapping *mapping = &mappings_[inside % MOST_MAPPINGS];
        return mapping->packets > 0 && mapping->inside == inside ? mapping : nullptr;
    }

    /// A mapping in the way is forgotten.
    Mapping *add(unsigned inside)
    {
        Mapping *mapping = &mappings_[inside % MOST_MAPPINGS];
        *mapping = { inside, network_ + inside % MOST_MAPPINGS, 0 };
        mapped_++;
        return mapping;
    }

    unsigned network_ = 0x7f000000;
    Mapping mappings_[MOST_MAPPINGS] = {};
    long mapped_ = 0;
};

/// IPMirror: sends a packet back to where it came from.
class IPMirror : public Element {
protected:
    Packet *simple_action(Packet *packet) override
    {
        unsigned source = packet->source();
        packet->set_source(packet->destination());
        packet->set_destination(source);
        passed_++;
        return packet;
    }
};

/// StoreData(AT, VALUE): writes a byte of the payload and signs anew.
class StoreData : public Element {
public:
    void configure(const Settings &settings) override
    {
        at_ = settings.number(0, 0);
        value_ = settings.number(1, 0);
        if (at_ < 0 || at_ >= PAYLOAD)
            give_up("StoreData writes within the payload");
    }

protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->set_byte(IP_HEADER + at_, value_);
        packet->sign();
        passed_++;
        return packet;
    }

private:
    int at_ = 0;
    unsigned value_ = 0;
};
