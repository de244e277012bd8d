# Builds as makefiles do: objects with dependency files, a static and a shared library, a plug-in,
# two languages, a response file.
set -e
$CC $CFLAGS -MD -MF counter.d -c "$SRC/counter.c" -o counter.o
$CC $CFLAGS -fPIC -c "$SRC/adder.c" -o adder.o
$CC $CFLAGS -fPIC -c "$SRC/plugin.c" -o plugin.o
$CXX $CFLAGS -c "$SRC/main.cpp" -o main.o
ar rcs libcounter.a counter.o
$CC $LDFLAGS_SHARED -shared adder.o -o libadder.so
$CC $LDFLAGS_SHARED -shared plugin.o -o plugin.so
echo "main.o -L. '-lcounter' -ladder -Wl,-rpath,. -ldl" > link.rsp
$CXX $LDFLAGS @link.rsp -o app
grep -q counter.h counter.d
