-- A row comes in: an upsert of its task's gram.
\set task random(1, 20)
\set a random(-1000, 1000)
\set b random(-1000000, 1000000)
BEGIN;
INSERT INTO seen VALUES (:task, ARRAY[1, :a / 7.0, :b / 3e4], :a + :b / 1e3);
INSERT INTO task SELECT :task, wml_gram(ARRAY[1, :a / 7.0, :b / 3e4], :a + :b / 1e3)
ON CONFLICT (task) DO UPDATE SET gram = task.gram + excluded.gram;
COMMIT;
