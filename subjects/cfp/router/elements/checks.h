// Elements that look at a packet and let it pass or not. What does not pass leaves by output 1.

class Check : public Element {
public:
    long figure() const override { return refused_; }

    void push(int, Packet *packet) override
    {
        bool good = is_good(packet);
        if (good)
            passed_++;
        else
            refused_++;
        send(good ? 0 : 1, packet);
    }

protected:
    virtual bool is_good(Packet *packet) = 0;

private:
    long refused_ = 0;
};

/// CheckLength(MOST): not too long.
class CheckLength : public Check {
public:
    void configure(const Settings &settings) override { most_ = settings.number(0, 1500); }

protected:
    bool is_good(Packet *packet) override { return packet->length() <= most_; }

private:
    int most_ = 1500;
};

/// CheckIPHeader: version 4, and the right checksum.
class CheckIPHeader : public Check {
protected:
    bool is_good(Packet *packet) override
    {
        return packet->byte(0) == 0x45 && packet->checksum() == packet->right_checksum();
    }
};

/// CheckSignature: the payload came as it was sent.
class CheckSignature : public Check {
public:
    long figure() const override { return wrong_; }

protected:
    bool is_good(Packet *packet) override
    {
        if (packet->signature() == packet->right_signature())
            return true;
        wrong_++;
        return false;
    }

private:
    long wrong_ = 0;
};

/// HostEtherFilter(LAST): for us, by the last byte of the address.
class HostEtherFilter : public Check {
public:
    void configure(const Settings &settings) override { last_ = settings.number(0, 0x15); }

protected:
    bool is_good(Packet *packet) override { return packet->byte(5) == last_; }

private:
    unsigned last_ = 0x15;
};

/// CheckPaint(COLOUR): lets what is painted so go to output 1.
class CheckPaint : public Check {
public:
    void configure(const Settings &settings) override { colour_ = settings.number(0, 1); }

protected:
    bool is_good(Packet *packet) override { return packet->paint() != colour_; }

private:
    int colour_ = 1;
};

/// RandomSample(ONE_IN): keeps one of so many.
class RandomSample : public Check {
public:
    void configure(const Settings &settings) override { one_in_ = settings.number(0, 4); }

protected:
    bool is_good(Packet *) override
    {
        state_ = state_ * 69069 + 1;
        return (state_ >> 16) % one_in_ == 0;
    }

private:
    unsigned one_in_ = 4;
    unsigned state_ = 7;
};

/// IPFilter(RULE, ...): a rule is `deny N`, `allow N` (a protocol) or `deny all`; the first that fits counts.
class IPFilter : public Check {
public:
    void configure(const Settings &settings) override
    {
        for (size_t i = 0; i < settings.size() && count_ < MOST_RULES; i++)
            rules_[count_++] = parse_rule(settings.word(i));
    }

protected:
    bool is_good(Packet *packet) override
    {
        for (int i = 0; i < count_; i++) {
            if (rules_[i].protocol == ANY || rules_[i].protocol == static_cast<int>(packet->protocol())) {
                rules_[i].used++;
                return rules_[i].allows;
            }
        }
        return true;
    }

private:
    static const int MOST_RULES = 8;
    static const int ANY = -1;
    struct Rule {
        bool allows;
        int protocol;
        int used;
    };

    static Rule parse_rule(const std::string &text)
    {
        size_t space = text.find(' ');
        std::string verb = text.substr(0, space);
        if (space == std::string::npos || (verb != "allow" && verb != "deny"))
            give_up("\"" + text + "\" should be allow or deny, and a protocol or all");
        std::string what = text.substr(space + 1);
        return { verb == "allow", what == "all" ? ANY : atoi(what.c_str()), 0 };
    }

    Rule rules_[MOST_RULES] = {};
    int count_ = 0;
};
