# How the core is compiled and linked: by the extension and by the core's unit tests.

# Double-double arithmetic needs every operation rounded by itself.  The flag stands among the
# preprocessor's because PGXS passes only those on to the compiler that makes the JIT's bitcode.
CORE_CPPFLAGS = -Isrc -ffp-contract=off

# A backend must stay single-threaded, so on Debian link the serial OpenBLAS by name, whichever
# variant the administrator made the default.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
OPENBLAS_SERIAL := $(wildcard /usr/lib/$(MULTIARCH)/openblas-serial)
LAPACKE_ARCHIVE := $(wildcard /usr/lib/$(MULTIARCH)/liblapacke.a)

# The few functions of LAPACKE that we call come from its archive.  Its shared library brings along a
# LAPACK and a BLAS of its own choice, and some 4 ms in each new backend to resolve their symbols.  Where
# there is no archive, its choice must be ours: a DT_RPATH, unlike the newer DT_RUNPATH, holds for such
# indirect libraries too.
ifneq ($(LAPACKE_ARCHIVE),)
LAPACKE = -Wl,--exclude-libs,liblapacke.a $(LAPACKE_ARCHIVE)
else
LAPACKE = -llapacke
endif

ifneq ($(OPENBLAS_SERIAL),)
CORE_CPPFLAGS += -isystem /usr/include/$(MULTIARCH)/openblas-serial
CORE_LIBS = $(LAPACKE) -L$(OPENBLAS_SERIAL) -Wl,--disable-new-dtags,-rpath,$(OPENBLAS_SERIAL) -lopenblas -lm
else
CORE_CPPFLAGS += $(shell pkg-config --cflags lapacke openblas 2>/dev/null)
CORE_LIBS = $(or $(shell pkg-config --libs lapacke openblas 2>/dev/null),-llapacke -lopenblas) -lm
endif
