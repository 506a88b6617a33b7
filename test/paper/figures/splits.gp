# The errors of all methods over the splits, and what the paper prints; the variables name, unit, low and high
# come from outside
set terminal svg size 700,390 fixed noenhanced font 'Arial,13' background 'white'
set lmargin at screen 0.31
set rmargin at screen 0.98
set bmargin at screen 0.14
set tmargin at screen 0.92
set xrange [low:high]
set yrange [11.6:-0.6]
set xlabel 'RMSE on the rows that were not known, '.unit offset 0,0.3
unset grid
set grid xtics lc rgb '#e4e4e4' lw 1 lt 1
set ytics scale 0
set label '▬' at screen 0.32,0.96 textcolor rgb '#9ecae8'
set label '5 % to 95 % of the splits' at screen 0.345,0.96 textcolor rgb '#333333'
set label '● median' at screen 0.62,0.96 textcolor rgb mixture
set label '▲ printed in the paper' at screen 0.76,0.96 textcolor rgb uniform
plot 'splits_'.name.'.csv' using 'low':0:(column('high') - column('low')):(0):yticlabel(1) with vectors nohead lw 7 lc rgb '#9ecae8', \
	'' using 'median':0 with points pt 7 ps 0.9 lc rgb mixture, \
	'' using 'paper':0 with points pt 9 ps 1.1 lc rgb uniform
