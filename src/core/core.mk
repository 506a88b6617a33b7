# How the core is compiled and linked: by the extension (EXTENSION_LIBS) and by its unit tests (CORE_LIBS).
#
# OPENBLAS=shared links OpenBLAS as a shared library also where there is an archive.  OPENBLAS_PREFIX is
# where an OpenBLAS lies that has LAPACKE inside, in include and lib; on macOS it is Homebrew's unless given.

# Double-double arithmetic needs every operation rounded by itself.  Nobody looks at errno after sqrt(), which is
# one instruction then, for whole vectors.  The flags stand among the preprocessor's because PGXS
# passes only those on to the compiler that makes the JIT's bitcode.
CORE_CPPFLAGS = -Isrc -ffp-contract=off -fno-math-errno

# GCC 10 fails where it describes long vectors to a debugger.
ifneq ($(filter 8 9 10,$(shell $(CC) -dumpversion 2>/dev/null)),)
CORE_CPPFLAGS += -fno-var-tracking-assignments
endif

# What the compiler compiles for, which need not be this system: the linkers know different options.
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
APPLE := $(findstring -apple-,$(MACHINE))
WINDOWS := $(or $(findstring -mingw,$(MACHINE)),$(findstring -windows,$(MACHINE)))
ifneq ($(APPLE),)
OPENBLAS_PREFIX ?= $(shell brew --prefix openblas 2>/dev/null)
endif

# Debian's places, unless another is given.  A backend must stay single-threaded, so there link the serial
# OpenBLAS by name, whichever variant the administrator made the default.
ifeq ($(APPLE)$(WINDOWS)$(OPENBLAS_PREFIX),)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
OPENBLAS_SERIAL := $(wildcard /usr/lib/$(MULTIARCH)/openblas-serial)
OPENBLAS_ARCHIVE := $(wildcard $(OPENBLAS_SERIAL:%=%/libopenblas.a))
LAPACKE_ARCHIVE := $(wildcard /usr/lib/$(MULTIARCH)/liblapacke.a)
endif

# CORE_LIBS are shared libraries.  For LAPACKE, of which we call a few functions, its archive comes first:
# its shared library brings along a LAPACK and a BLAS of its own choice.  Where there is no archive, its
# choice must be ours: a DT_RPATH, unlike the newer DT_RUNPATH, holds for such indirect libraries too.
ifneq ($(LAPACKE_ARCHIVE),)
LAPACKE = -Wl,--exclude-libs,liblapacke.a $(LAPACKE_ARCHIVE)
else
LAPACKE = -llapacke
endif

ifneq ($(OPENBLAS_SERIAL),)
CORE_CPPFLAGS += -isystem /usr/include/$(MULTIARCH)/openblas-serial
CORE_LIBS = $(LAPACKE) -L$(OPENBLAS_SERIAL) -Wl,--disable-new-dtags,-rpath,$(OPENBLAS_SERIAL) -lopenblas -lm
else ifneq ($(OPENBLAS_PREFIX),)
CORE_CPPFLAGS += -isystem $(OPENBLAS_PREFIX)/include
# Windows finds libraries by its PATH.
CORE_LIBS = -L$(OPENBLAS_PREFIX)/lib $(if $(WINDOWS),,-Wl,-rpath,$(OPENBLAS_PREFIX)/lib) -lopenblas -lm
else
CORE_CPPFLAGS += $(shell pkg-config --cflags lapacke openblas 2>/dev/null)
CORE_LIBS = $(or $(shell pkg-config --libs lapacke openblas 2>/dev/null),-llapacke -lopenblas) -lm
endif

# EXTENSION_LIBS are archives where there are any, unless OPENBLAS=shared.  Each new backend, and so each parallel worker, would
# take some 6 ms to load the shared OpenBLAS and resolve its symbols, against less than 1 ms for an
# extension that has it inside.  Nor can its names then clash with those of another OpenBLAS in the same
# backend, as numpy's in PL/Python.  What we call of it needs no run-time library of Fortran.
ifneq ($(and $(filter-out shared,$(or $(OPENBLAS),archive)),$(LAPACKE_ARCHIVE),$(OPENBLAS_ARCHIVE)),)
EXTENSION_LIBS = -Wl,--exclude-libs,ALL $(LAPACKE_ARCHIVE) $(OPENBLAS_ARCHIVE) -lm
else
EXTENSION_LIBS = $(CORE_LIBS)
endif
