// What main does while packets flow: it looks at all figures, collects arrivals, and brings in new routes.

class Control {
public:
    explicit Control(Router &router)
        : router_(router), arrivals_(find<Counter>("arrivals")), routes_(find<LookupRoute>("routes")),
          seal_(find<CheckSignature>("seal"))
    {
    }

    /// Four times, spread over the packets.
    void attend()
    {
        for (int quarter = 1; quarter <= 4; quarter++) {
            driver.wait_for_made(driver.planned() * quarter / 4);
            look_at_figures();
            collected_ += arrivals_->take();
            routes_->replace_table();
        }
    }

    /// Once all threads have ended. Says whether all packets came as they were sent.
    bool finish()
    {
        collected_ += arrivals_->take();
        printf("%ld packets arrived, %ld hops, highest figure %ld\n", collected_, hops, highest_);
        assert(collected_ == driver.planned() && "every arrival was counted once");
        if (seal_->figure() != 0)
            printf("%ld packets had a wrong signature\n", seal_->figure());
        return seal_->figure() == 0;
    }

private:
    template <class E> E *find(const char *name) const
    {
        E *element = dynamic_cast<E *>(router_.named(name));
        if (element == nullptr)
            give_up(std::string("\"") + name + "\" is not of the class that main looks for");
        return element;
    }

    void look_at_figures()
    {
        for (Element *element : router_.elements()) {
            long figure = element->figure();
            if (figure > highest_)
                highest_ = figure;
        }
    }

    Router &router_;
    Counter *arrivals_;
    LookupRoute *routes_;
    CheckSignature *seal_;
    long collected_ = 0;
    long highest_ = 0;
};
