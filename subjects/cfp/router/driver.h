// Who runs what, and when all is done: threads, tasks, and the packets that are under way.

[[noreturn]] static void give_up(const std::string &why)
{
    fprintf(stderr, "router: %s\n", why.c_str());
    exit(2);
}

/// Something a thread does again and again: receive a packet, or take one from a queue.
class Task {
public:
    virtual ~Task() {}
    /// Does one piece of work; says whether there was any.
    virtual bool run_task() = 0;
};

class Driver {
public:
    static const int WORKERS = 2;

    void add_task(Task *task, int worker)
    {
        if (worker < 0 || worker >= WORKERS || counts_[worker] == MOST_TASKS)
            give_up("a task wants a thread that there is not, or there are too many tasks");
        tasks_[worker][counts_[worker]++] = task;
    }

    /// A source says how many packets it is going to make.
    void expect(int packets)
    {
        sources_++;
        planned_ += packets;
    }

    int planned() const { return planned_; }

    void source_is_empty()
    {
        pthread_mutex_lock(&mutex_);
        sources_--;
        announce();
        pthread_mutex_unlock(&mutex_);
    }

    void packet_made()
    {
        pthread_mutex_lock(&mutex_);
        under_way_++;
        made_++;
        if (made_ == milestone_)
            pthread_cond_broadcast(&milestone_reached_);
        pthread_mutex_unlock(&mutex_);
    }

    void packet_gone()
    {
        pthread_mutex_lock(&mutex_);
        under_way_--;
        if (is_finished())
            announce();
        pthread_mutex_unlock(&mutex_);
    }

    /// A queue has got something for whoever waits.
    void wake()
    {
        pthread_mutex_lock(&mutex_);
        announce();
        pthread_mutex_unlock(&mutex_);
    }

    /// Main waits here until so many packets were made, or all are gone.
    void wait_for_made(int packets)
    {
        pthread_mutex_lock(&mutex_);
        milestone_ = packets;
        while (made_ < packets && !is_finished())
            pthread_cond_wait(&milestone_reached_, &mutex_);
        pthread_mutex_unlock(&mutex_);
    }

    /// What a thread does until nothing is left to do.
    void work(int worker)
    {
        bool more = true;
        while (more) {
            long seen = news();
            bool worked = false;
            for (int i = 0; i < counts_[worker]; i++)
                worked = tasks_[worker][i]->run_task() || worked;
            if (!worked)
                more = wait_for_news(seen);
        }
    }

private:
    static const int MOST_TASKS = 16;

    bool is_finished() const { return sources_ == 0 && under_way_ == 0; }

    void announce()
    {
        news_++;
        pthread_cond_broadcast(&changed_);
        if (is_finished())
            pthread_cond_broadcast(&milestone_reached_);
    }

    long news()
    {
        pthread_mutex_lock(&mutex_);
        long seen = news_;
        pthread_mutex_unlock(&mutex_);
        return seen;
    }

    bool wait_for_news(long seen)
    {
        pthread_mutex_lock(&mutex_);
        while (news_ == seen && !is_finished())
            pthread_cond_wait(&changed_, &mutex_);
        bool more = !is_finished();
        pthread_mutex_unlock(&mutex_);
        return more;
    }

    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
    pthread_cond_t milestone_reached_ = PTHREAD_COND_INITIALIZER;
    Task *tasks_[WORKERS][MOST_TASKS] = {};
    int counts_[WORKERS] = {};
    int sources_ = 0;
    int planned_ = 0;
    int under_way_ = 0;
    int made_ = 0;
    int milestone_ = 0;
    long news_ = 0;
};

static Driver driver;
