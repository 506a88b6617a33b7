-- wml: upgrade from 0.1.0.  The parts in sql/wml follow, but for the types, which stay with their values.

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION wml UPDATE" to load this file. \quit

-- Nearly all signatures have changed.  Views and functions of users that call them must go first.
DO $$
DECLARE
	member record;
BEGIN
	FOR member IN
		SELECT objid, classid, CASE WHEN classid = 'pg_opclass'::regclass THEN 1 WHEN classid = 'pg_opfamily'::regclass THEN 2
			WHEN classid = 'pg_operator'::regclass THEN 3 WHEN p.prokind = 'a' THEN 4 ELSE 5 END AS step
		FROM pg_depend LEFT JOIN pg_proc AS p ON classid = 'pg_proc'::regclass AND p.oid = objid
		WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'wml') AND
			deptype = 'e' AND classid <> 'pg_type'::regclass AND
			NOT EXISTS (SELECT FROM pg_type WHERE objid IN (typinput, typoutput, typreceive, typsend))
		ORDER BY step
	LOOP
		CASE member.step
			WHEN 1 THEN NULL;  -- goes with its family
			WHEN 2 THEN EXECUTE (SELECT format('DROP OPERATOR FAMILY %I.%I USING hash', nspname, opfname)
								 FROM pg_opfamily JOIN pg_namespace AS n ON n.oid = opfnamespace WHERE pg_opfamily.oid = member.objid);
			WHEN 3 THEN EXECUTE 'DROP OPERATOR ' || member.objid::regoperator;
			WHEN 4 THEN EXECUTE 'DROP AGGREGATE ' || member.objid::regprocedure;
			ELSE EXECUTE 'DROP FUNCTION ' || member.objid::regprocedure;
		END CASE;
	END LOOP;
END
$$;
