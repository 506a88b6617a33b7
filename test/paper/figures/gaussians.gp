# Nine Gaussian tasks and a target between them: the closest task, those with more than 1/9 in the mixture, and all weights
set terminal svg size 900,340 fixed noenhanced font 'Arial,13' background 'white'
set multiplot
set tmargin at screen 0.82
set bmargin at screen 0.17
set label '× the target' at screen 0.05,0.95 textcolor rgb truth
set label '● the closest source' at screen 0.18,0.95 textcolor rgb closest
set label '● other sources with more than 1/9' at screen 0.38,0.95 textcolor rgb mixture
set label '● the others' at screen 0.70,0.95 textcolor rgb '#999999'

set xrange [-4.8:4.8]
set yrange [-4.8:4.8]
set tics 2
unset grid
set xlabel 'feature a' offset 0,0.5
chosen(rule) = column('closest') > 0.5 ? 0x009e73 : column(rule) > 1.0 / 9 ? 0x0072b2 : 0xc4c4c4
do for [panel = 0:1] {
	rule = panel ? 'mixture' : 'closest'
	set lmargin at screen 0.05 + 0.33 * panel
	set rmargin at screen 0.33 + 0.33 * panel
	set title panel ? 'the closest mixture' : 'the closest source' offset 0,-0.5
	set ylabel panel ? '' : 'response b' offset 1.5,0
	plot 'gaussians_sources.csv' using 'a':'b':(chosen(rule)) with points pt 7 ps 0.25 lc rgb variable, \
		'gaussians_target.csv' using 'a':'b' with points pt 2 ps 0.6 lw 1.5 lc rgb truth
	unset label
}

set lmargin at screen 0.735
set rmargin at screen 0.99
set title 'their weights'
set xrange [0.4:9.6]
set yrange [0:1.02]
set xtics 1,1,9
set ytics 0,0.2,1
set grid ytics
set xlabel 'source task'
set ylabel ''
set style fill solid noborder
set boxwidth 0.36
set key top right samplen 1.5
plot 'gaussians.csv' using (column('source') - 0.19):'mixture' with boxes lc rgb mixture title 'mixture', \
	'' using (column('source') + 0.19):'closest' with boxes lc rgb closest title 'closest', \
	1 / 9. with lines lw 1.5 dt 2 lc rgb uniform title '1/9'
unset multiplot
