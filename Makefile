# wml: weighted meta-learning inside PostgreSQL
#
# make, make install, make installcheck, make clean
#     as for any PGXS extension; PG_CONFIG chooses the PostgreSQL, WERROR=1 makes warnings errors
# make check, make demo, make bench, make docs-update
#     in a private, throw-away server; these install the Debian packages they miss (see test/bin)
# make fuzz [SECONDS=3600] [SEED=1]
#     likewise: random calls of everything in the extension (see test/fuzz)
# make dist, make deb
#     the zip for PGXN and Debian packages, in dist/ (see test/bin/package)
# make paper [DATA=folder] [ONLY=experiment] [QUICK=1]
#     likewise: renews docs/paper.md and its figures (see test/paper/run)

PRIVATE_GOALS = check deb demo dist bench docs-update fuzz paper
ifneq ($(filter $(PRIVATE_GOALS),$(MAKECMDGOALS)),)

# PGXS has a "check" of its own, which only says no; and it may not even be installed yet.
.NOTPARALLEL:
.PHONY: $(MAKECMDGOALS)

check:
	@test/bin/check

demo:
	@mkdir -p results
	@test/bin/with-postgres -p psql -X -q -v picture=results/forecast.svg -f test/demo/demo.sql

bench:
	@test/bin/with-postgres -c shared_buffers=1GB -c shared_preload_libraries=wml test/bench/run

dist:
	@test/bin/provision zip=zip
	@test/bin/package dist dist

deb:
	@test/bin/provision dh=debhelper dpkg-buildpackage=dpkg-dev lintian=lintian dh_pgxs_test=postgresql-server-dev-all
	@test/bin/package deb dist

fuzz:
	@test/bin/with-postgres test/fuzz/run $(or $(SECONDS),3600) $(or $(SEED),1)

paper:
	@test/bin/provision gnuplot=gnuplot-nox
	@test/bin/with-postgres test/paper/run

docs-update:
	@test/bin/with-postgres bash -c 'test/bin/doc-examples --update && test/bin/reference --update && test/bin/figures --update'

$(filter-out $(PRIVATE_GOALS),$(MAKECMDGOALS)):
	$(MAKE) $@

else

EXTENSION = wml
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" wml.control)
MODULE_big = wml
OBJS = $(patsubst %.c,%.o,$(wildcard src/core/*/*.c src/pg/*/*.c))
SQL_PARTS = $(sort $(wildcard sql/wml/*.sql))
# none but those built; make paper's DATA is another
DATA =
DATA_built = sql/wml--$(EXTVERSION).sql $(patsubst sql/upgrade/%.sql,sql/wml--%--$(EXTVERSION).sql,$(wildcard sql/upgrade/*.sql))
REGRESS = $(basename $(notdir $(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=test --load-extension=wml

# On a busy machine a test takes long enough to report its progress, which is not in expected/.
installcheck: export PGOPTIONS += -c wml.progress=off

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
SERVER_HEADERS := $(shell $(PG_CONFIG) --includedir-server)
ifeq ($(and $(wildcard $(PGXS)),$(wildcard $(SERVER_HEADERS)/postgres.h)),)
$(error Nothing to build against here: install PostgreSQL's server development files (Debian: postgresql-server-dev-NN) or set PG_CONFIG)
endif

# -isystem: PostgreSQL's own headers are not clean under -Wextra.
include src/core/core.mk
PG_CPPFLAGS = $(CORE_CPPFLAGS) -isystem $(SERVER_HEADERS)
# clang does not know all flags of the gcc that built the server, and gcc does not mind these two.
PG_CFLAGS = -std=gnu11 -Wall -Wextra $(if $(WERROR),-Werror -Wno-unknown-warning-option -Wno-ignored-optimization-argument)
SHLIB_LINK = $(EXTENSION_LIBS)

include $(PGXS)

$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*/*/*.h)

# The script is one part for each topic, in the order of their names; an upgrade drops what was before,
# and takes all of them but the types.
CONCATENATE = awk 'FNR == 1 && NR > 1 { print "" } { print }' $^ >$@

sql/wml--$(EXTVERSION).sql: $(SQL_PARTS)
	$(CONCATENATE)

sql/wml--%--$(EXTVERSION).sql: sql/upgrade/%.sql $(filter-out %/00_head.sql %/05_types.sql,$(SQL_PARTS))
	$(CONCATENATE)

endif
