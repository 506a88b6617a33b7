# How the core is compiled and linked: by the extension and by the core's unit tests.

# Double-double arithmetic needs every operation rounded by itself.  The flag stands among the
# preprocessor's because PGXS passes only those on to the compiler that makes the JIT's bitcode.
CORE_CPPFLAGS = -Isrc -ffp-contract=off

# A backend must stay single-threaded, so on Debian link the serial OpenBLAS by name, whichever
# variant the administrator made the default.  LAPACKE finds BLAS and LAPACK at run time by itself:
# a DT_RPATH, unlike the newer DT_RUNPATH, holds for such indirect libraries too.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
OPENBLAS_SERIAL := $(wildcard /usr/lib/$(MULTIARCH)/openblas-serial)
ifneq ($(OPENBLAS_SERIAL),)
CORE_CPPFLAGS += -isystem /usr/include/$(MULTIARCH)/openblas-serial
CORE_LIBS = -L$(OPENBLAS_SERIAL) -Wl,--disable-new-dtags,-rpath,$(OPENBLAS_SERIAL) -llapacke -lopenblas -lm

# The extension itself rather takes both from their archives.  To resolve the twenty thousand symbols
# of the shared libraries takes each new backend 10 ms, and with it each parallel worker.
CORE_ARCHIVES := $(wildcard /usr/lib/$(MULTIARCH)/liblapacke.a $(OPENBLAS_SERIAL)/libopenblas.a)
LIBGFORTRAN := $(wildcard /usr/lib/$(MULTIARCH)/libgfortran.so.5)
ifeq ($(words $(CORE_ARCHIVES) $(LIBGFORTRAN)),3)
EXTENSION_LIBS = -Wl,-Bsymbolic-functions,--exclude-libs,ALL $(CORE_ARCHIVES) $(LIBGFORTRAN) -lm
endif
else
CORE_CPPFLAGS += $(shell pkg-config --cflags lapacke openblas 2>/dev/null)
CORE_LIBS = $(or $(shell pkg-config --libs lapacke openblas 2>/dev/null),-llapacke -lopenblas) -lm
endif
EXTENSION_LIBS ?= $(CORE_LIBS)
