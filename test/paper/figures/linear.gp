# The target's five rows with six lines, and the weights of the sources
set terminal svg size 700,390 fixed noenhanced font 'Arial,13' background 'white'
set multiplot
set bmargin at screen 0.15
set tmargin at screen 0.91

set lmargin at screen 0.075
set rmargin at screen 0.56
set xrange [-2.5:2.5]
set yrange [-4.5:7]
set xlabel 'feature x' offset 0,0.5
set ylabel 'response y' offset 1.5,0
set title 'six lines for five rows' offset 0,-0.5
set key left top reverse Left samplen 2.5 spacing 1.05
plot 'linear_lines.csv' using 'x':'truth' with lines lw 5 lc rgb light title 'the truth', \
	'' using 'x':'target' with lines lw 2 lc rgb own title 'the five rows alone', \
	'' using 'x':'erm' with lines lw 2 lc rgb uniform title 'all tasks alike: ERM', \
	'' using 'x':'maml' with lines lw 2 dt 2 lc rgb uniform title 'all tasks alike: MAML', \
	'' using 'x':'alpha_erm' with lines lw 2 lc rgb mixture title 'weights: α-ERM', \
	'' using 'x':'alpha_maml' with lines lw 2 dt 2 lc rgb mixture title 'weights: α-MAML', \
	'linear_points.csv' using 'x':'y' with points pt 7 ps 0.7 lc rgb truth

set lmargin at screen 0.66
set rmargin at screen 0.99
set xrange [-2.6:2.6]
set yrange [0:1]
set xlabel 'slope of the source task'
set ylabel 'weight α'
set title 'weights of the ten tasks'
set boxwidth 0.3
set style fill solid noborder
set arrow from 1.5, graph 0 to 1.5, graph 1 nohead lw 5 lc rgb light back
set label 'the truth ' at 1.4, 0.97 right textcolor rgb '#666666'
plot 'linear_sources.csv' using 'slope':'alpha' with boxes lc rgb mixture, \
	'' using 'slope':(0) with points pt 7 ps 0.4 lc rgb '#666666'
unset multiplot
