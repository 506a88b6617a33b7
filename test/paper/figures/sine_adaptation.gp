# The held-out error of the sine target while the networks adapt, median and range over the trials
set terminal svg size 900,360 fixed noenhanced font 'Arial,13' background 'white'
set multiplot layout 1,3 margins 0.07,0.99,0.16,0.84 spacing 0.035
set logscale xy
set xrange [0.9:230]
set yrange [0.03:100]
set xtics ('0' 1, '1' 2, '3' 4, '10' 11, '30' 31, '100' 101)
set xlabel 'gradient steps on the known points' offset 0,0.5
set label '— uniform' at screen 0.08,0.96 textcolor rgb uniform
set label '— mixture' at screen 0.20,0.96 textcolor rgb mixture
set label '— closest' at screen 0.32,0.96 textcolor rgb closest
set label 'shaded: lowest to highest of the trials' at screen 0.44,0.96 textcolor rgb '#777777'
do for [shots in '5 10 20'] {
	set title shots.' shots' offset 0,-0.5
	set ylabel shots eq '5' ? 'mean squared error, held out' : '' offset 1,0
	set format y shots eq '5' ? '%g' : ''
	step(weights) = column('shots') == shots && strcol('weights') eq weights ? column('step') + 1 : NaN
	plot for [weights in 'uniform mixture closest'] 'sine_adaptation.csv' using (step(weights)):'lowest':'highest' \
			with filledcurves fs transparent solid 0.12 noborder lc rgb value(weights), \
		for [weights in 'uniform mixture closest'] '' using (step(weights)):'mse' with lines lw 2.5 lc rgb value(weights)
	unset label
}
unset multiplot
