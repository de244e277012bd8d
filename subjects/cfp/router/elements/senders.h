// The way out: time to live, checksums, fragments, errors, and addresses on the wire.

/// DecIPTTL: one hop less to live; what is too old leaves by output 1.
class DecIPTTL : public Element {
public:
    long figure() const override { return expired_; }

    void push(int, Packet *packet) override
    {
        unsigned time = packet->time_to_live();
        if (time <= 1) {
            expired_++;
            send(1, packet);
            return;
        }
        packet->set_time_to_live(time - 1);
        passed_++;
        send(0, packet);
    }

private:
    long expired_ = 0;
};

/// SetIPChecksum: after the header was changed.
class SetIPChecksum : public Element {
protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->set_checksum(packet->right_checksum());
        passed_++;
        return packet;
    }
};

/// ICMPError(TYPE): turns a packet around and tells its sender what was wrong.
class ICMPError : public Element {
public:
    void configure(const Settings &settings) override { type_ = settings.number(0, 11); }

protected:
    Packet *simple_action(Packet *packet) override
    {
        unsigned sender = packet->source();
        packet->set_source(packet->destination());
        packet->set_destination(sender);
        packet->set_protocol(1);
        packet->set_time_to_live(16);
        packet->set_byte(IP_HEADER, type_);
        packet->sign();
        passed_++;
        return packet;
    }

private:
    unsigned type_ = 11;
};

/// IPFragmenter(MOST): cuts a packet that is too long into copies that each say where they begin.
class IPFragmenter : public Element {
public:
    void configure(const Settings &settings) override { most_ = settings.number(0, 576); }
    long figure() const override { return fragments_; }

    void push(int, Packet *packet) override
    {
        int length = packet->length();
        for (int at = most_; at < length; at += most_) {
            Packet *fragment = packet->copy();
            fragment->set_word(6, at);
            fragments_++;
            send(0, fragment);
        }
        passed_++;
        send(0, packet);
    }

private:
    int most_ = 576;
    long fragments_ = 0;
};

/// EtherEncap(TYPE, LAST): a header for the wire, with addresses that end so.
class EtherEncap : public Element {
public:
    void configure(const Settings &settings) override
    {
        type_ = settings.number(0, IP_TYPE);
        last_ = settings.number(1, 0x15);
    }

protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->strip(-ETHERNET_HEADER);
        packet->set_type(type_);
        packet->set_byte(5, last_);
        packet->set_byte(11, last_ + 1);
        passed_++;
        return packet;
    }

private:
    unsigned type_ = IP_TYPE;
    unsigned last_ = 0x15;
};

/// ARPQuerier: finds out the address on the wire. It remembers some, and asks for others by a copy to output 1.
class ARPQuerier : public Element {
public:
    long figure() const override { return asked_; }

    void push(int, Packet *packet) override
    {
        unsigned address = packet->destination();
        if (!knows(address)) {
            learn(address);
            asked_++;
            send(1, packet->copy());
        }
        packet->strip(-ETHERNET_HEADER);
        packet->set_byte(5, address & 0xff);
        passed_++;
        send(0, packet);
    }

private:
    bool knows(unsigned address) const { return known_[address % REMEMBERED] == address; }
    void learn(unsigned address) { known_[address % REMEMBERED] = address; }

    static const int REMEMBERED = 32;
    unsigned known_[REMEMBERED] = {};
    long asked_ = 0;
};

/// ARPResponder(LAST): answers requests with an address that ends so.
class ARPResponder : public Element {
public:
    void configure(const Settings &settings) override { last_ = settings.number(0, 0x15); }

protected:
    Packet *simple_action(Packet *packet) override
    {
        for (int at = 0; at < 6; at++) {
            unsigned byte = packet->byte(at);
            packet->set_byte(at, packet->byte(6 + at));
            packet->set_byte(6 + at, byte);
        }
        packet->set_byte(11, last_);
        passed_++;
        return packet;
    }

private:
    unsigned last_ = 0x15;
};
