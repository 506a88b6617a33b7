-- Option words: in any case, and an unknown one is answered with the list of those known.

CREATE TEMP TABLE word_task AS
SELECT task, wml_gram(ARRAY[1, i, i * i % 7], task * i + i % 3) AS gram
FROM generate_series(1, 4) AS task, generate_series(1, 9) AS i
GROUP BY task;

CREATE TEMP VIEW word_question AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task < 4) AS sources,
	(array_agg(gram) FILTER (WHERE task = 4))[1] AS target
FROM word_task;

-- the weights, losses and models
SELECT words.*, wml_alpha(sources, target, word, loss) = wml_alpha(sources, target, lower(word), lower(loss)) AS same
FROM word_question, (VALUES ('Mixture', 'SQUARE'), ('CLOSEST', 'Hinge'), ('uniForm', 'square'), ('POOLED', 'HINGE')) AS words (word, loss);
SELECT word, (SELECT array_agg(coefficient ORDER BY position) FROM wml_fit(sources, target, word, eta => 0.001)) =
	(SELECT array_agg(coefficient ORDER BY position) FROM wml_fit(sources, target, lower(word), eta => 0.001)) AS same
FROM word_question, unnest('{ERM,Maml,FoMAML,Reptile}'::text[]) AS word;
SELECT wml_distance(gram, gram, 'HINGE') FROM word_task LIMIT 1;

-- all lists
CREATE FUNCTION pg_temp.hint_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text;
	message text;
	hint text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, hint);
END $$;

SELECT pg_temp.hint_of(format('SELECT %s FROM word_question', call)) FROM (VALUES
	($$wml_alpha(sources, target, 'none')$$),
	($$wml_alpha(sources, target, 'mixture', 'none')$$),
	($$wml_fit(sources, target, 'none')$$),
	($$wml_fit(sources, target, 'erm', 'none')$$),
	($$wml_minimize_bound(sources, target, 'none')$$),
	($$wml_compare(sources, sources, models => '{none}')$$),
	($$wml_compare(sources, sources, weights => '{none}')$$),
	($$wml_prior(sources, covariance => 'none')$$),
	($$wml_prior(sources, method => 'none')$$),
	($$wml_mlp_train('SELECT 1', 'SELECT 1', objective => 'none')$$),
	($$wml_mlp_train('SELECT 1', 'SELECT 1', weights => 'none')$$)
) AS bad (call);
