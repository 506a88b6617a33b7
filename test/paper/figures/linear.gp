# Six lines for the target among nine sources, and the weights behind them
set terminal svg size 700,390 fixed noenhanced font 'Arial,13' background 'white'
set multiplot
set bmargin at screen 0.15
set tmargin at screen 0.91

set lmargin at screen 0.085
set rmargin at screen 0.60
set xrange [-7:7]
set yrange [-40:190]
set xlabel 'feature x' offset 0,0.5
set ylabel 'response y' offset 1.5,0
set title 'six lines to start from' offset 0,-0.5
set key left top reverse Left samplen 2.5 spacing 1.05
plot 'linear_sources.csv' using 'x':'y' with points pt 7 ps 0.2 lc rgb light, \
	'linear_lines.csv' using 'x':'erm' with lines lw 2 lc rgb uniform title 'all alike: ERM', \
	'' using 'x':'maml' with lines lw 2 dt 2 lc rgb uniform title 'all alike: MAML', \
	'' using 'x':'alpha_erm' with lines lw 2 lc rgb mixture title 'weights: α-ERM', \
	'' using 'x':'alpha_maml' with lines lw 2 dt 2 lc rgb mixture title 'weights: α-MAML', \
	'' using 'x':'closest_erm' with lines lw 2 lc rgb closest title 'closest: α-ERM*', \
	'' using 'x':'closest_maml' with lines lw 2 dt 2 lc rgb closest title 'closest: α-MAML*', \
	'linear_points.csv' using 'x':'y' with points pt 2 ps 0.6 lw 1.5 lc rgb '#cc0000'

set lmargin at screen 0.70
set rmargin at screen 0.99
set xrange [0.4:9.6]
set yrange [0:1.02]
set xtics 1,1,9
set xlabel 'source task'
set ylabel 'weight'
set title 'their weights'
set boxwidth 0.26
set style fill solid noborder
set key right top
plot 'linear_weights.csv' using (column('task') - 0.28):'uniform' with boxes lc rgb uniform title 'uniform', \
	'' using 'task':'alpha' with boxes lc rgb mixture title 'α', \
	'' using (column('task') + 0.28):'closest' with boxes lc rgb closest title 'closest'
unset multiplot
