// Two threads that share a leveldb database: they put, get and delete, and one has it compacted meanwhile.
#include <cassert>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "leveldb/db.h"
#include "leveldb/write_batch.h"

static void must(const leveldb::Status &status) {
    if (!status.ok()) {
        std::cerr << status.ToString() << "\n";
        std::exit(1);
    }
}

static void work(leveldb::DB *db, const std::string &name) {
    for (int i = 0; i < 3; i++) {
        std::string key = name + std::to_string(i), value;
        must(db->Put({}, key, std::string(200, 'x')));
        must(db->Get({}, key, &value));
        assert(value == std::string(200, 'x'));
        if (i % 2) {
            leveldb::WriteBatch batch;
            batch.Delete(key);
            batch.Put(key + "again", "y");
            must(db->Write({}, &batch));
        }
    }
    if (name == "one") db->CompactRange(nullptr, nullptr);
}

int main() {
    leveldb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.write_buffer_size = 1 << 16;
    must(leveldb::DestroyDB("db", options));
    leveldb::DB *opened;
    must(leveldb::DB::Open(options, "db", &opened));
    std::unique_ptr<leveldb::DB> db(opened);
    std::thread one(work, opened, "one"), other(work, opened, "other");
    one.join();
    other.join();
    int entries = 0;
    std::unique_ptr<leveldb::Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) entries++;
    must(it->status());
    assert(entries == 6);
}
