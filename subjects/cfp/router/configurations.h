// The configurations that come with the program. Each has an arrival counter called `arrivals`, a routing
// element called `routes` and a signature check called `seal`, which main looks for.

static const std::map<std::string, const char *> configurations = {
    { "iprouter", R"(
        // An IP router with three ways out. It answers those who ask for its address, and tells senders
        // when a packet was refused or too old.
        TraceSource(mixed, 400, 1) -> arrivals :: Counter -> CheckLength(1500) -> kind :: Classifier(arp, ip);
        kind [0] -> ARPResponder(0x15) -> answers :: Queue(4);
        kind [1] -> Paint(1) -> Strip(14) -> check :: CheckIPHeader -> filter :: IPFilter(deny 1, allow all)
            -> packets :: Queue(64);
        check [1] -> Discard;
        filter [1] -> refused :: Queue(4);

        answers -> Unqueue -> Discard;
        refused -> Unqueue -> ICMPError(3) -> StoreData(1, 13) -> SetIPChecksum -> Discard;
        packets -> Unqueue -> seal :: CheckSignature
            -> routes :: LookupRoute(10.0.0.0/16 0, 10.1.0.0/16 1, 192.168.0.0/16 2, 0.0.0.0/0 1);
        routes [0] -> old0 :: DecIPTTL -> SetIPChecksum -> IPFragmenter(40) -> query :: ARPQuerier -> Discard;
        routes [1] -> old1 :: DecIPTTL -> IPRewriter(0x7f000000) -> SetIPChecksum -> EtherEncap(0x0800, 7) -> Discard;
        routes [2] -> IPMirror -> SetIPChecksum -> Print(mirrored) -> Discard;
        old0 [1] -> ICMPError(11) -> SetIPChecksum -> Discard;
        old1 [1] -> ICMPError(11) -> SetIPChecksum -> Discard;
        query [1] -> Discard;
    )" },
    { "services", R"(
        // Classes of service: what is urgent has a queue of its own, the usual is dropped early, and what is left
        // is spread over two queues. Some of it is watched.
        TraceSource(ip, 400, 2) -> arrivals :: Counter -> HostEtherFilter(0x15) -> Strip(14) -> AverageCounter(8)
            -> again :: Suppressor -> classes :: Classifier(udp, tcp, -);
        again [1] -> RandomSample(2) -> seldom :: Queue(16);
        classes [0] -> SetTOS(0x10) -> urgent :: Queue(64);
        classes [1] -> meter :: Meter(3, 4) -> early :: RED(1, 8) -> usual :: FrontDropQueue(2);
        classes [2] -> ways :: HashSwitch(2);
        meter [1] -> SetTOS(0) -> rest :: Queue(2);
        ways [0] -> first :: Queue(16);
        ways [1] -> second :: Queue(16);
        early [1] -> Discard;

        turns :: RoundRobinSched;
        first -> [0] turns;
        second -> [1] turns;
        seldom -> [2] turns;
        order :: PrioSched -> Shaper(8) -> Unqueue(2) -> copies :: Tee -> seal :: CheckSignature
            -> routes :: LookupRoute(10.0.0.0/8 0, 0.0.0.0/0 1);
        urgent -> [0] order;
        usual -> [1] order;
        rest -> [2] order;
        turns -> [3] order;
        copies [1] -> choice :: Switch(0) -> Unstrip -> Discard;
        choice [1] -> Discard;
        routes [0] -> Paint(2) -> colour :: CheckPaint(2) -> Discard;
        routes [1] -> DecIPTTL -> SetIPChecksum -> Discard;
        colour [1] -> Discard;
    )" },
    { "gateway", R"(
        // A gateway with addresses of its own, and a strict filter.
        TraceSource(busy, 400, 3) -> arrivals :: Counter -> CheckLength(1500) -> Strip(14) -> CheckIPHeader
            -> filter :: IPFilter(deny 1, allow 6, allow 17, deny all) -> inside :: Queue(64);
        filter [1] -> refused :: Queue(16);

        inside -> Unqueue -> seal :: CheckSignature -> routes :: LookupRoute(10.0.0.0/8 0, 192.168.0.0/16 1, 0.0.0.0/0 0);
        routes [0] -> IPRewriter(0x7f000000) -> SetIPChecksum -> Print(outside) -> Discard;
        routes [1] -> IPMirror -> SetIPChecksum -> Discard;
        refused -> Unqueue -> ICMPError(3) -> StoreData(1, 13) -> SetIPChecksum -> Discard;
    )" },
    { "balancer", R"(
        // Spreads what comes over two ways, and watches some of it.
        TraceSource(busy, 400, 4) -> arrivals :: Counter -> HostEtherFilter(0x15) -> Strip(14) -> again :: Suppressor
            -> ways :: HashSwitch(2);
        again [1] -> RandomSample(4) -> third :: Queue(16);
        ways [0] -> first :: Queue(32);
        ways [1] -> second :: Queue(32);

        turns :: RoundRobinSched -> Unqueue -> copies :: Tee -> seal :: CheckSignature
            -> routes :: LookupRoute(10.0.0.0/8 0, 0.0.0.0/0 1);
        first -> [0] turns;
        second -> [1] turns;
        third -> [2] turns;
        copies [1] -> choice :: Switch(0) -> Unstrip -> Discard;
        choice [1] -> Discard;
        routes [0] -> Paint(2) -> colour :: CheckPaint(2);
        routes [1] -> Discard;
        colour [1] -> Discard;
    )" },
    { "leaf", R"(
        // The router of a network with one way out: no answers, no fragments.
        TraceSource(mixed, 400, 5) -> arrivals :: Counter -> kind :: Classifier(ip) -> Paint(3) -> Strip(14)
            -> check :: CheckIPHeader -> packets :: Queue(32);
        check [1] -> Discard;
        Idle -> unused :: Discard;

        packets -> Unqueue -> seal :: CheckSignature -> routes :: LookupRoute(0.0.0.0/0 0);
        routes [0] -> old :: DecIPTTL -> SetIPChecksum -> EtherEncap(0x0800, 9) -> Discard;
        old [1] -> Discard;
    )" },
    { "urgent", R"(
        // Two classes of service, without a limit.
        TraceSource(ip, 400, 6) -> arrivals :: Counter -> Strip(14) -> classes :: Classifier(udp, -);
        classes [0] -> SetTOS(0x20) -> urgent :: Queue(128);
        classes [1] -> AverageCounter(4) -> usual :: FrontDropQueue(24);

        order :: PrioSched -> Unqueue(4) -> seal :: CheckSignature -> routes :: LookupRoute(0.0.0.0/0 0);
        urgent -> [0] order;
        usual -> [1] order;
        routes [0] -> DecIPTTL -> SetIPChecksum -> Discard;
    )" },
};

/// A configuration by its name, or from stdin.
static std::string text_of(const std::string &name)
{
    if (name == "-") {
        std::string text;
        for (int read = getchar(); read != EOF; read = getchar())
            text += static_cast<char>(read);
        return text;
    }
    auto found = configurations.find(name);
    if (found == configurations.end())
        give_up("there is no configuration \"" + name + "\"; configurations.h lists them");
    return found->second;
}
