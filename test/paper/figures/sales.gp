# The first target of the sales data, and the models to start from
set terminal svg size 700,360 fixed noenhanced font 'Arial,13' background 'white'
set multiplot layout 1,2 margins 0.08,0.99,0.16,0.84 spacing 0.07
set xrange [-1:52]
set yrange [0:20]
set xlabel 'week' offset 0,0.5
set label '— known' at screen 0.08,0.96 textcolor rgb truth
set label '╌ to predict' at screen 0.20,0.96 textcolor rgb truth
set label '— uniform' at screen 0.36,0.96 textcolor rgb uniform
set label '— mixture' at screen 0.50,0.96 textcolor rgb mixture
set label '— same weeks' at screen 0.64,0.96 textcolor rgb closest
set label '— prior' at screen 0.81,0.96 textcolor rgb bound
do for [shots = 5:10:5] {
	set title 'the first '.shots.' weeks known' offset 0,-0.5
	set ylabel shots == 5 ? 'units sold in a week' : '' offset 1,0
	plot 'sales_weeks.csv' using ($1 >= shots - 1 ? $1 : NaN):'y' with lines lw 1 dt (4, 3) lc rgb truth, \
		'' using ($1 < shots ? $1 : NaN):'y' with lines lw 2.5 lc rgb truth, \
		for [line in 'uniform mixture same prior'] 'sales_predictions.csv' using ($1 == shots ? $2 : NaN):line \
			with lines lw 2 lc rgb line eq 'prior' ? bound : line eq 'same' ? closest : value(line)
	unset label
}
unset multiplot
