#!/bin/sh
# Builds one of the five programs: build.sh NAME, with CC and CXX, the unpacked package in SOURCE, and an empty folder in OUT, where
# the executables are left. Each is compiled by hand, with what its own build files would say on this kind of machine.
set -e
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2086
case $1 in
xz)
    cd "$SOURCE"
    ./configure -q --disable-shared --disable-nls --disable-doc --disable-scripts --disable-lzmadec --disable-lzmainfo \
        --disable-assembler CC="$CC" CFLAGS="-g -O1" >/dev/null
    make -s -C src/liblzma >/dev/null
    make -s -C src/xz >/dev/null
    cp src/xz/xz "$OUT/xz"
    ;;
lmdb)
    cd "$SOURCE/libraries/liblmdb"
    $CC -g -O1 -pthread -I. "$here/lmdb.c" mdb.c midl.c -o "$OUT/lmdb"
    ;;
zstd)
    # Jobs of half a megabyte, the smallest ones otherwise, would make each execution millions of steps long.
    cd "$SOURCE"
    $CC -g -O1 -w -pthread -DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -DZSTD_NODICT -DZSTD_NOTRACE \
        -DZSTDMT_JOBSIZE_MIN=8192 -Ilib -Ilib/common -Iprograms lib/common/*.c lib/compress/*.c lib/decompress/*.c \
        programs/benchzstd.c programs/benchfn.c programs/datagen.c programs/zstdcli.c programs/fileio.c programs/fileio_asyncio.c programs/util.c programs/timefn.c -o "$OUT/zstd"
    ;;
leveldb)
    cd "$SOURCE"
    files=$(ls db/*.cc table/*.cc util/*.cc helpers/memenv/memenv.cc | grep -v -e _test.cc -e _bench.cc -e windows -e testutil -e leveldbutil)
    $CXX -g -O1 -std=c++17 -w -pthread -DLEVELDB_PLATFORM_POSIX=1 -DHAVE_FDATASYNC=1 -DHAVE_O_CLOEXEC=1 -DHAVE_FULLFSYNC=0 \
        -DHAVE_SNAPPY=0 -DHAVE_CRC32C=0 -I. -Iinclude "$here/leveldb.cc" $files -o "$OUT/leveldb"
    ;;
libuv)
    cd "$SOURCE"
    library=$(ls src/*.c)
    for name in async core dl fs getaddrinfo getnameinfo loop-watcher loop pipe poll process random-devurandom signal stream tcp \
        thread tty udp proctitle linux-core linux-inotify linux-syscalls procfs-exepath random-getrandom random-sysctl-linux epoll; do
        library="$library src/unix/$name.c"
    done
    $CC -g -O1 -w -pthread -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude -Isrc -Itest "$here/libuv.c" $library \
        test/test-thread.c test/test-threadpool.c test/test-threadpool-cancel.c test/test-mutexes.c test/test-barrier.c \
        test/test-semaphore.c test/test-condvar.c test/test-async.c -ldl -o "$OUT/libuv"
    ;;
*)
    echo "there is no program $1" >&2
    exit 2
    ;;
esac
