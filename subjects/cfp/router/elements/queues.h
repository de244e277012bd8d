// Queues, where packets go from one thread to the other, and elements that decide what gets into them.

/// Queue(CAPACITY): drops what does not fit.
class Queue : public Element {
public:
    void configure(const Settings &settings) override
    {
        capacity_ = settings.number(0, 64);
        if (capacity_ < 1 || capacity_ > MOST_PACKETS)
            give_up("a queue holds from 1 to 256 packets");
    }

    /// How full it is, as far as one can tell without the lock.
    int length() const { return length_; }
    long figure() const override { return highest_; }
    long dropped() const { return dropped_; }

    void push(int, Packet *packet) override
    {
        pthread_mutex_lock(&mutex_);
        Packet *surplus = length_ < capacity_ ? nullptr : make_room(packet);
        if (surplus != packet)
            append(packet);
        pthread_mutex_unlock(&mutex_);
        note_fill();
        if (surplus != nullptr)
            drop(surplus);
        driver.wake();
    }

    Packet *pull(int) override
    {
        pthread_mutex_lock(&mutex_);
        Packet *packet = length_ == 0 ? nullptr : take_first();
        pthread_mutex_unlock(&mutex_);
        return packet;
    }

protected:
    /// The packet to drop when the queue is full: the new one.
    virtual Packet *make_room(Packet *packet) { return packet; }

    Packet *take_first()
    {
        Packet *packet = packets_[head_];
        head_ = (head_ + 1) % MOST_PACKETS;
        length_--;
        return packet;
    }

private:
    static const int MOST_PACKETS = 256;

    void append(Packet *packet)
    {
        packets_[(head_ + length_) % MOST_PACKETS] = packet;
        length_++;
    }

    void note_fill()
    {
        if (length_ > highest_)
            highest_ = length_;
    }

    void drop(Packet *packet)
    {
        dropped_++;
        packet->kill();
    }

    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    Packet *packets_[MOST_PACKETS] = {};
    int capacity_ = 64;
    int head_ = 0;
    int length_ = 0;
    int highest_ = 0;
    long dropped_ = 0;
};

/// FrontDropQueue(CAPACITY): drops the oldest instead.
class FrontDropQueue : public Queue {
protected:
    Packet *make_room(Packet *) override { return take_first(); }
};

/// RED(LEAST, MOST): drops the more often the fuller the queue behind it is.
class RED : public Element {
public:
    void configure(const Settings &settings) override
    {
        least_ = settings.number(0, 16);
        most_ = settings.number(1, 48);
    }

    void initialize() override
    {
        queue_ = dynamic_cast<Queue *>(next(0));
        if (queue_ == nullptr)
            give_up("a queue has to follow RED");
    }

    long figure() const override { return early_; }

    void push(int, Packet *packet) override
    {
        average_ = (3 * average_ + queue_->length()) / 4;
        if (should_drop()) {
            early_++;
            send(1, packet);
        } else {
            passed_++;
            send(0, packet);
        }
    }

private:
    bool should_drop()
    {
        if (average_ < least_)
            return false;
        state_ = state_ * 69069 + 1;
        return static_cast<int>((state_ >> 16) % (most_ - least_ + 1)) < average_ - least_;
    }

    Queue *queue_ = nullptr;
    int least_ = 16;
    int most_ = 48;
    int average_ = 0;
    unsigned state_ = 3;
    long early_ = 0;
};

/// Meter(PACKETS, OF): so many out of each run of packets go straight on, the others to output 1.
class Meter : public Element {
public:
    void configure(const Settings &settings) override
    {
        packets_ = settings.number(0, 3);
        of_ = settings.number(1, 4);
    }

    long figure() const override { return above_; }

    void push(int, Packet *packet) override
    {
        bool above = turn_ >= packets_;
        turn_ = (turn_ + 1) % of_;
        above_ += above;
        send(above ? 1 : 0, packet);
    }

private:
    int packets_ = 3;
    int of_ = 4;
    int turn_ = 0;
    long above_ = 0;
};
