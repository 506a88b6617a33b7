-- Weights of all others for one task, and a model under them.
\set task random(1, 20)
SELECT wml_erm(gram, alpha)
FROM (SELECT s.gram, wml_alpha(s.gram, t.gram, shrink => 3, whiten => true) OVER () AS alpha
      FROM task AS s, task AS t WHERE t.task = :task AND s.task <> :task) AS weighted;
