// Elements that every packet passes: they count, mark, or take parts of it away.

/// Counter: how many packets have passed since somebody asked.
class Counter : public Element {
public:
    long figure() const override { return bytes_; }

    /// What was counted so far; counting begins anew.
    long take()
    {
        long count = count_;
        count_ = 0;
        return count;
    }

protected:
    Packet *simple_action(Packet *packet) override
    {
        count_++;
        bytes_ += packet->length();
        return packet;
    }

private:
    long count_ = 0;
    long bytes_ = 0;
};

/// AverageCounter(WEIGHT): how long packets are on average, new ones counting more than old ones.
class AverageCounter : public Element {
public:
    void configure(const Settings &settings) override { weight_ = settings.number(0, 8); }
    long figure() const override { return average_ / 256; }

protected:
    Packet *simple_action(Packet *packet) override
    {
        average_ += (packet->length() * 256 - average_) / weight_;
        return packet;
    }

private:
    long average_ = 0;
    int weight_ = 8;
};

/// Paint(COLOUR): a mark that travels with the packet.
class Paint : public Element {
public:
    void configure(const Settings &settings) override { colour_ = settings.number(0, 1); }

protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->set_paint(colour_);
        passed_++;
        return packet;
    }

private:
    int colour_ = 1;
};

/// Strip(BYTES): takes bytes away from the front.
class Strip : public Element {
public:
    void configure(const Settings &settings) override { bytes_ = settings.number(0, ETHERNET_HEADER); }

protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->strip(bytes_);
        passed_++;
        return packet;
    }

private:
    int bytes_ = ETHERNET_HEADER;
};

/// Unstrip(BYTES): restores them.
class Unstrip : public Strip {
protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->strip(-ETHERNET_HEADER);
        passed_++;
        return packet;
    }
};

/// SetTOS(SERVICE): the class of service.
class SetTOS : public Element {
public:
    void configure(const Settings &settings) override { service_ = settings.number(0, 0); }

protected:
    Packet *simple_action(Packet *packet) override
    {
        packet->set_service(service_);
        passed_++;
        return packet;
    }

private:
    unsigned service_ = 0;
};

/// Print(LABEL): remembers the last packet that passed, for main to print at the end.
class Print : public Element {
public:
    void configure(const Settings &settings) override { label_ = settings.size() > 0 ? settings.word(0) : "packet"; }
    long figure() const override { return last_length_; }

    ~Print() override
    {
        if (passed_ > 0)
            printf("%s: the last of %ld had %d bytes, protocol %u\n", label_.c_str(), passed_, last_length_, last_protocol_);
    }

protected:
    Packet *simple_action(Packet *packet) override
    {
        last_length_ = packet->length();
        last_protocol_ = packet->protocol();
        passed_++;
        return packet;
    }

private:
    std::string label_;
    int last_length_ = 0;
    unsigned last_protocol_ = 0;
};
