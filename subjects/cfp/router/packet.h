// Packets: an Ethernet header, an IP header, some payload and the sender's signature.

const int ETHERNET_HEADER = 14;
const int IP_HEADER = 20;
const int PAYLOAD = 20;
const int SIGNATURE = 4;
const int WHOLE_PACKET = ETHERNET_HEADER + IP_HEADER + PAYLOAD + SIGNATURE;
const int IP_TYPE = 0x0800;
const int ARP_TYPE = 0x0806;

class Packet {
public:
    static Packet *make()
    {
        driver.packet_made();
        return new Packet;
    }

    Packet *copy() const
    {
        Packet *packet = make();
        packet->start_ = start_;
        packet->length_ = length_;
        packet->paint_ = paint_;
        memcpy(packet->bytes_, bytes_, sizeof bytes_);
        return packet;
    }

    void kill()
    {
        delete this;
        driver.packet_gone();
    }

    int length() const { return length_; }
    void set_length(int length) { length_ = length; }
    int paint() const { return paint_; }
    void set_paint(int paint) { paint_ = paint; }

    /// Takes bytes away from the front, or gives them back.
    void strip(int bytes)
    {
        start_ += bytes;
        length_ -= bytes;
        if (start_ < 0 || length_ < 0)
            give_up("an element gave more bytes back than were taken, or took more than there are");
    }

    unsigned byte(int at) const { return bytes_[start_ + at]; }
    void set_byte(int at, unsigned value) { bytes_[start_ + at] = static_cast<unsigned char>(value); }

    unsigned word(int at) const { return byte(at) << 8 | byte(at + 1); }

    void set_word(int at, unsigned value)
    {
        set_byte(at, value >> 8);
        set_byte(at + 1, value);
    }

    unsigned long_word(int at) const { return word(at) << 16 | word(at + 2); }

    void set_long_word(int at, unsigned value)
    {
        set_word(at, value >> 16);
        set_word(at + 2, value);
    }

    // The Ethernet header, while it is not stripped.
    unsigned type() const { return word(12); }
    void set_type(unsigned type) { set_word(12, type); }

    // The IP header, once the Ethernet header is stripped.
    unsigned service() const { return byte(1); }
    void set_service(unsigned service) { set_byte(1, service); }
    unsigned time_to_live() const { return byte(8); }
    void set_time_to_live(unsigned time) { set_byte(8, time); }
    unsigned protocol() const { return byte(9); }
    void set_protocol(unsigned protocol) { set_byte(9, protocol); }
    unsigned source() const { return long_word(12); }
    void set_source(unsigned address) { set_long_word(12, address); }
    unsigned destination() const { return long_word(16); }
    void set_destination(unsigned address) { set_long_word(16, address); }
    unsigned checksum() const { return word(10); }
    void set_checksum(unsigned checksum) { set_word(10, checksum); }

    /// The checksum the IP header should have.
    unsigned right_checksum() const
    {
        unsigned sum = 0;
        for (int at = 0; at < IP_HEADER; at += 2)
            sum += at == 10 ? 0 : word(at);
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        return ~sum & 0xffff;
    }

    /// The signature the payload should have. Making it takes long, as signatures do.
    unsigned right_signature() const
    {
        unsigned signature = 0x811c9dc5;
        for (int at = IP_HEADER; at < IP_HEADER + PAYLOAD; at++) {
            signature ^= byte(at);
            for (int round = 0; round < 1500; round++) {
                signature *= 16777619u;
                signature ^= signature >> 13;
            }
        }
        return signature;
    }

    unsigned signature() const { return long_word(IP_HEADER + PAYLOAD); }
    void sign() { set_long_word(IP_HEADER + PAYLOAD, right_signature()); }

private:
    Packet() { memset(bytes_, 0, sizeof bytes_); }

    int start_ = 0;
    int length_ = WHOLE_PACKET;
    int paint_ = 0;
    unsigned char bytes_[WHOLE_PACKET];
};
