// Where packets come from and where they go.

/// TraceSource(KIND, PACKETS, SEED): receives a made-up trace. KIND is `ip`, `mixed` (some ARP requests and some
/// damaged headers) or `busy` (a few hosts that send much).
class TraceSource : public Element, public Task {
public:
    static void set_packets(const char *packets) { asked_for_ = atoi(packets); }

    void configure(const Settings &settings) override
    {
        kind_ = settings.size() > 0 ? settings.word(0) : "ip";
        left_ = asked_for_ > 0 ? asked_for_ : settings.number(1, 200);
        seed_ = settings.number(2, 1);
        mixed_ = kind_ == "mixed";
        hosts_ = kind_ == "busy" ? 3 : 40;
        driver.expect(left_);
    }

    Task *task() override { return this; }
    long figure() const override { return left_; }

    bool run_task() override
    {
        if (left_ == 0)
            return false;
        send(0, receive());
        left_--;
        if (left_ == 0)
            driver.source_is_empty();
        return true;
    }

private:
    unsigned draw(unsigned below)
    {
        seed_ = seed_ * 1103515245u + 12345u;
        return (seed_ >> 12) % below;
    }

    Packet *receive()
    {
        Packet *packet = Packet::make();
        for (int at = 0; at < 12; at++)
            packet->set_byte(at, at < 6 ? 0x10 + at : 0x20 + draw(hosts_));
        bool is_request = mixed_ && draw(8) == 0;
        packet->set_type(is_request ? ARP_TYPE : IP_TYPE);
        packet->strip(ETHERNET_HEADER);
        fill_header(packet);
        fill_payload(packet);
        packet->strip(-ETHERNET_HEADER);
        return packet;
    }

    void fill_header(Packet *packet)
    {
        static const unsigned networks[] = { 0x0a000000, 0x0a010000, 0xc0a80000, 0x08080000 };
        static const unsigned protocols[] = { 6, 6, 6, 17, 17, 1 };
        packet->set_byte(0, 0x45);
        packet->set_service(draw(4) << 3);
        packet->set_word(2, IP_HEADER + PAYLOAD + SIGNATURE);
        packet->set_time_to_live(1 + draw(16));
        packet->set_protocol(protocols[draw(6)]);
        packet->set_source(networks[draw(4)] + draw(hosts_));
        packet->set_destination(networks[draw(4)] + draw(hosts_));
        packet->set_checksum(packet->right_checksum());
        if (mixed_ && draw(16) == 0)
            packet->set_checksum(packet->checksum() ^ 1);
    }

    void fill_payload(Packet *packet)
    {
        for (int at = IP_HEADER; at < IP_HEADER + PAYLOAD; at++)
            packet->set_byte(at, draw(256));
        packet->sign();
    }

    static int asked_for_;
    std::string kind_;
    int left_ = 0;
    unsigned seed_ = 1;
    bool mixed_ = false;
    unsigned hosts_ = 40;
};

int TraceSource::asked_for_ = 0;

/// Discard: the end of the way.
class Discard : public Element {
public:
    void push(int, Packet *packet) override
    {
        passed_++;
        packet->kill();
    }
};

/// Idle: neither gives nor takes; closes ports that nothing should come out of.
class Idle : public Element {
public:
    void push(int, Packet *packet) override { packet->kill(); }
    Packet *pull(int) override { return nullptr; }
};

/// Unqueue(BURST): takes packets from a queue and pushes them on.
class Unqueue : public Element, public Task {
public:
    void configure(const Settings &settings) override { burst_ = settings.number(0, 1); }
    Task *task() override { return this; }

    bool run_task() override
    {
        bool worked = false;
        for (int i = 0; i < burst_; i++) {
            Packet *packet = ask(0);
            if (packet == nullptr)
                break;
            passed_++;
            send(0, packet);
            worked = true;
        }
        return worked;
    }

private:
    int burst_ = 1;
};
