/*
 * compat.h
 *	  What moved between the versions of the server, 13 to 20.
 */
#ifndef WML_COMPAT_H
#define WML_COMPAT_H

#include "postgres.h"

/* VARSIZE and its kin left postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Owners of everything are checked by one function. */
#if PG_VERSION_NUM >= 160000
#define pg_class_ownercheck(relation, role) object_ownercheck(RelationRelationId, relation, role)
#endif

#endif							/* WML_COMPAT_H */
