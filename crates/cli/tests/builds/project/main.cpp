#include "counter.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>

static void work(bool careful) {
    add(2);
    if (!careful) {
        count();
    }
}

int main(int argc, char **argv) {
    bool careful = argc > 1 && std::strcmp(argv[1], "careful") == 0;
    std::thread one(work, careful), other(work, careful);
    one.join();
    other.join();
    void *library = dlopen("./plugin.so", RTLD_NOW);
    auto plugin = reinterpret_cast<int (*)()>(library ? dlsym(library, "plugin") : nullptr);
    if (plugin == nullptr || !plugin() || added() != 4) {
        return 3;
    }
    if (!careful && counted() != 2) {
        std::abort();
    }
    return 0;
}
