# One sine target: the networks before and after adaptation
set terminal svg size 700,560 fixed noenhanced font 'Arial,13' background 'white'
set multiplot layout 2,2 margins 0.08,0.99,0.10,0.90 spacing 0.06,0.12
set xrange [-5:5]
set yrange [-9:9]
set ytics -6,6,6
set label '— the target' at screen 0.09,0.97 textcolor rgb '#888888'
set label '● known' at screen 0.25,0.97 textcolor rgb truth
set label '— uniform' at screen 0.38,0.97 textcolor rgb uniform
set label '— mixture' at screen 0.53,0.97 textcolor rgb mixture
set label '— closest' at screen 0.68,0.97 textcolor rgb closest
do for [step = 0:10:10] {
	do for [shots = 5:10:5] {
		set title sprintf('%d shots, %s', shots, step == 0 ? 'as trained' : 'after 10 steps') offset 0,-0.5
		set xlabel step == 0 ? '' : 'x' offset 0,0.5
		set ylabel shots == 5 ? 'y' : '' offset 1,0
		shown(weights) = column('shots') == shots && column('step') == step && strcol('weights') eq weights
		plot 'sine_curves.csv' every 2 using (shown('uniform') ? column('x') : NaN):'truth' with lines lw 5 lc rgb light, \
			for [weights in 'uniform mixture closest'] '' every 2 using (shown(weights) ? column('x') : NaN):'prediction' \
				with lines lw 2 lc rgb value(weights), \
			'sine_points.csv' using (column('shots') == shots ? column('x') : NaN):'y' with points pt 7 ps 0.7 lc rgb truth
		unset label
	}
}
unset multiplot
