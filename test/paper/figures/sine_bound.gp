# Direct optimisation of the bound: one sine target with 10 shots, and the error while the networks adapt
set terminal svg size 700,360 fixed noenhanced font 'Arial,13' background 'white'
set multiplot layout 1,2 margins 0.08,0.99,0.16,0.84 spacing 0.11

set xrange [-5:5]
set yrange [-9:9]
set ytics -6,6,6
set title 'one target, 10 shots' offset 0,-0.5
set xlabel 'x' offset 0,0.5
set ylabel 'y' offset 1,0
set label '— the target' at screen 0.09,0.96 textcolor rgb '#888888'
set label '╌ bound, as trained' at screen 0.24,0.96 textcolor rgb bound
set label '— bound, after 10 steps' at screen 0.45,0.96 textcolor rgb bound
set label '— uniform' at screen 0.71,0.96 textcolor rgb uniform
set label '— mixture' at screen 0.84,0.96 textcolor rgb mixture
shown(weights, step) = column('shots') == 10 && column('step') == step && strcol('weights') eq weights
plot 'sine_curves.csv' using (shown('bound', 0) ? column('x') : NaN):'truth' with lines lw 5 lc rgb light, \
	'' using (shown('bound', 0) ? column('x') : NaN):'prediction' with lines lw 2 dt 2 lc rgb bound, \
	'' using (shown('bound', 10) ? column('x') : NaN):'prediction' with lines lw 2 lc rgb bound, \
	'sine_points.csv' using (column('shots') == 10 ? column('x') : NaN):'y' with points pt 7 ps 0.7 lc rgb truth

unset label
set logscale xy
set xrange [0.9:230]
set yrange [0.03:100]
set xtics ('0' 1, '1' 2, '3' 4, '10' 11, '30' 31, '100' 101)
set ytics auto
set title 'medians over the trials, 10 shots'
set xlabel 'gradient steps on the known points'
set ylabel 'mean squared error, held out'
step(weights) = column('shots') == 10 && strcol('weights') eq weights ? column('step') + 1 : NaN
plot for [weights in 'uniform mixture bound'] 'sine_adaptation.csv' using (step(weights)):'mse' with lines lw 2.5 lc rgb value(weights)
unset multiplot
