# The style that the figures share.  Colour-blind readers can tell the colours apart (Okabe and Ito 2008).
set datafile separator comma
set datafile columnheaders
set border 3 lc rgb '#666666'
set tics nomirror out scale 0.5 textcolor rgb '#333333'
set grid ytics lc rgb '#e4e4e4' lw 1 lt 1
set key noautotitle
set minussign

uniform = '#d55e00'
mixture = '#0072b2'
closest = '#009e73'
bound = '#cc79a7'
own = '#e69f00'
truth = '#000000'
light = '#bbbbbb'
