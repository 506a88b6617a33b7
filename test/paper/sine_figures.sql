-- Figures of the sine waves, as CSV files, from what sine.sql and sine_table.sql have left in the
-- same database.
--
--     psql -X -v out=DIR -f test/paper/sine_figures.sql
--
-- DIR/sine_points.csv     shots,x,y                       known points of the target of one trial
-- DIR/sine_curves.csv     shots,weights,step,x,truth,prediction    its network before (step 0) and after 10 steps
-- DIR/sine_adaptation.csv shots,weights,step,mse,lowest,highest    on the held-out points, after 0 to 200 steps: the
--                         median over the trials, and their range
-- DIR/sine_training.csv   shots,weights,iteration,rmse,distance,sources    means over trials while training: the
--                         weighted error of the sources after adaptation, the distance of the weighted sources
--                         from the target (empty for uniform weights where it was not needed), sources in use
--
-- Every number of shots and every weighting (uniform, mixture, closest, bound) is there; "bound" is the direct
-- optimisation of the bound.  Variable: trial (1), the one to draw.
\ir common.sql
\if :{?trial} \else \set trial 1 \endif
SET client_min_messages = error;

\o :out/sine_points.csv
SELECT DISTINCT shots, round(x[i][1]::numeric, 4) AS x, round(y[i]::numeric, 4) AS y
FROM sine_network, generate_subscripts(y, 1) AS i
WHERE trial = :trial ORDER BY shots, x;

\o :out/sine_curves.csv
WITH adapted AS MATERIALIZED (
	SELECT shots, weights, step, phase, wml_adapt(model, x, y, 0.02, step) AS model
	FROM sine_network, unnest('{0,10}'::int[]) AS step WHERE trial = :trial
)
SELECT shots, weights, step, x, round((6 * sin(x + phase))::numeric, 4) AS truth,
	round(wml_predict(model, ARRAY[x])::numeric, 4) AS prediction
FROM adapted, generate_series(-5, 5, 0.05) AS x ORDER BY shots, weights, step, x;

\o :out/sine_adaptation.csv
SELECT shots, weights, step, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY mse)::numeric, 4) AS mse,
	round(min(mse)::numeric, 4) AS lowest, round(max(mse)::numeric, 4) AS highest
FROM sine_adapted GROUP BY shots, weights, step ORDER BY shots, weights, step;

\o :out/sine_training.csv
SELECT shots, weights, iteration, round(avg(rmse)::numeric, 4) AS rmse, round(avg(distance)::numeric, 4) AS distance,
	round(avg(sources), 2) AS sources
FROM sine_network, wml_mlp_history(model)
GROUP BY shots, weights, iteration ORDER BY shots, weights, iteration;
\o
