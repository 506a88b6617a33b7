# The weights of the sources over the splits; the variables name and tasks, a label, come from outside
set terminal svg size 700,340 fixed noenhanced font 'Arial,13' background 'white'
set lmargin at screen 0.085
set rmargin at screen 0.99
set bmargin at screen 0.17
set tmargin at screen 0.90
set xrange [-0.6:5.6]
set yrange [0:1]
set xlabel tasks offset 0,0.3
set ylabel 'weight α' offset 1.5,0
set style fill solid noborder
set boxwidth 0.36
set label '■ mixture, above 1/6' at screen 0.09,0.95 textcolor rgb mixture
set label '■ below' at screen 0.30,0.95 textcolor rgb '#999999'
set label '□ whiten and shrink' at screen 0.41,0.95 textcolor rgb closest
set label '╌ 1/6' at screen 0.61,0.95 textcolor rgb uniform
set label '│ 5 % to 95 % of the splits' at screen 0.70,0.95 textcolor rgb truth
plot 'alpha_'.name.'.csv' using ($0 - 0.19):'mixture':(column('mixture') > 1 / 6. ? 0x0072b2 : 0xbbbbbb):xtic(1) with boxes lc rgb variable, \
	'' using ($0 + 0.19):'careful' with boxes fill empty border lc rgb closest lw 2, \
	1 / 6. with lines lw 2 dt 2 lc rgb uniform, \
	'' using ($0 - 0.19):'mixture_low':(0):(column('mixture_high') - column('mixture_low')) with vectors nohead lw 1.5 lc rgb truth, \
	'' using ($0 + 0.19):'careful_low':(0):(column('careful_high') - column('careful_low')) with vectors nohead lw 1.5 lc rgb truth
