-- wml: weighted meta-learning inside PostgreSQL

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION wml" to load this file. \quit
