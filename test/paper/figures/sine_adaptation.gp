# The error over the whole sine target while the networks adapt, mean and range over the trials
set terminal svg size 700,360 fixed noenhanced font 'Arial,13' background 'white'
set multiplot layout 1,2 margins 0.08,0.99,0.16,0.84 spacing 0.07
set xrange [-0.3:10.3]
set yrange [0:6]
set xlabel 'gradient steps on the known points' offset 0,0.5
set label '— uniform' at screen 0.09,0.96 textcolor rgb uniform
set label '— mixture' at screen 0.24,0.96 textcolor rgb mixture
set label '— closest' at screen 0.39,0.96 textcolor rgb closest
set label '│ lowest to highest of the trials' at screen 0.54,0.96 textcolor rgb truth
shift(weights) = weights eq 'uniform' ? -0.12 : weights eq 'closest' ? 0.12 : 0
do for [shots = 5:10:5] {
	set title sprintf('%d shots', shots) offset 0,-0.5
	set ylabel shots == 5 ? 'RMSE over the whole target' : '' offset 1,0
	step(weights) = column('shots') == shots && strcol('weights') eq weights ? column('step') + shift(weights) : NaN
	plot for [weights in 'uniform mixture closest'] 'sine_adaptation.csv' using (step(weights)):'rmse' \
			with linespoints pt 7 ps 0.5 lw 2 lc rgb value(weights), \
		for [weights in 'uniform mixture closest'] '' using (step(weights)):'lowest':(0):(column('highest') - column('lowest')) \
			with vectors nohead lw 1 lc rgb value(weights)
	unset label
}
unset multiplot
