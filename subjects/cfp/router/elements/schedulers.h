// Elements with several inputs or outputs: who is asked next, and who gets what.

/// RoundRobinSched: asks its inputs in turn.
class RoundRobinSched : public Element {
public:
    Packet *pull(int) override
    {
        for (int tried = 0; tried < MOST_PORTS; tried++) {
            int input = turn_;
            turn_ = (turn_ + 1) % MOST_PORTS;
            Packet *packet = has_input(input) ? ask(input) : nullptr;
            if (packet != nullptr) {
                passed_++;
                return packet;
            }
        }
        return nullptr;
    }

private:
    int turn_ = 0;
};

/// PrioSched: asks the first input first, always.
class PrioSched : public Element {
public:
    long figure() const override { return first_; }

    Packet *pull(int) override
    {
        for (int input = 0; has_input(input); input++) {
            Packet *packet = ask(input);
            if (packet != nullptr) {
                first_ += input == 0;
                passed_++;
                return packet;
            }
        }
        return nullptr;
    }

private:
    long first_ = 0;
};

/// Shaper(RUN): lets so many packets through, then says once that there is none.
class Shaper : public Element {
public:
    void configure(const Settings &settings) override { run_ = settings.number(0, 8); }
    long figure() const override { return pauses_; }

    Packet *pull(int) override
    {
        if (let_through_ == run_) {
            let_through_ = 0;
            pauses_++;
            driver.wake();
            return nullptr;
        }
        Packet *packet = ask(0);
        let_through_ += packet != nullptr;
        return packet;
    }

private:
    int run_ = 8;
    int let_through_ = 0;
    long pauses_ = 0;
};

/// Tee: a copy to each output.
class Tee : public Element {
public:
    void push(int, Packet *packet) override
    {
        for (int output = 1; has_output(output); output++)
            send(output, packet->copy());
        passed_++;
        send(0, packet);
    }
};

/// Switch(OUTPUT): all to one output, until somebody turns it.
class Switch : public Element {
public:
    void configure(const Settings &settings) override { output_ = settings.number(0, 0); }
    long figure() const override { return output_; }
    void turn() { output_ = has_output(output_ + 1) ? output_ + 1 : 0; }
    void push(int, Packet *packet) override { send(output_, packet); }

private:
    int output_ = 0;
};

/// HashSwitch(OUTPUTS): packets with the same addresses go the same way.
class HashSwitch : public Element {
public:
    void configure(const Settings &settings) override { outputs_ = settings.number(0, 2); }

    void push(int, Packet *packet) override
    {
        unsigned hash = packet->source() * 31 + packet->destination();
        used_[hash % outputs_]++;
        send(hash % outputs_, packet);
    }

    long figure() const override { return used_[0]; }

private:
    unsigned outputs_ = 2;
    long used_[MOST_PORTS] = {};
};

/// Suppressor: closes its way for packets that come right after one of the same host.
class Suppressor : public Element {
public:
    long figure() const override { return suppressed_; }

    void push(int, Packet *packet) override
    {
        bool again = packet->source() == last_;
        last_ = packet->source();
        suppressed_ += again;
        send(again ? 1 : 0, packet);
    }

private:
    unsigned last_ = 0;
    long suppressed_ = 0;
};
