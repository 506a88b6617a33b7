# The nine Gaussian tasks, shaded by their weights under both rules, with a blue edge where that is more than 1/9
set terminal svg size 700,412 fixed noenhanced font 'Arial,13' background 'white'
set multiplot layout 1,2 margins 0.07,0.99,0.141,0.915 spacing 0.08
set size ratio -1
set xrange [-3.3:3.3]
set yrange [-3.3:3.8]
set xtics -2,2,2
set ytics -2,2,2
unset grid
set xlabel 'feature a' offset 0,0.5
set ylabel 'response b' offset 1.5,0
set palette defined (0 '#ffffff', 1 '#56b4e9')
set cbrange [0:1]
unset colorbox

# Circles of one standard deviation; as points they make a smaller file than gnuplot's circles
radius = 8.35
do for [rule in 'mixture closest'] {
	set title rule eq 'mixture' ? 'mixture: the closest mixture of tasks' : 'closest: the closest task alone' offset 0,-0.5
	plot 'gaussians.csv' using 'a':'b':(column(rule) > 1.0 / 9 ? 0x0072b2 : 0xbbbbbb) with points pt 7 ps radius lc rgb variable, \
		'' using 'a':'b':rule with points pt 7 ps (radius - 0.45) lc palette, \
		'gaussians_target.csv' using 'a':'b' with points pt 7 ps 0.35 lc rgb uniform, \
		'gaussians.csv' using 'a':(column('b') - 0.76):(column(rule) >= 0.005 ? sprintf('%.2f', column(rule)) : '0') with labels font ',14'
}
unset multiplot
