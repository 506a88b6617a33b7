# lmer on the surveys of Gapminder (test/data/gapminder.csv, the argument): each country in turn is known up to 1970 and its later
# surveys are forecast by y ~ t + t^2 + (t + t^2 | country).  Prints the mean RMSE, and the CPU time in ms for one country.
suppressPackageStartupMessages(library(lme4))
survey <- read.csv(commandArgs(trailingOnly = TRUE)[1])
survey$t <- (survey$year - 1980) / 20
survey$t2 <- survey$t^2
off <- c()
started <- proc.time()
for (target in unique(survey$country)) {
	known <- survey$country != target | survey$year <= 1970
	fit <- suppressMessages(suppressWarnings(lmer(fertility ~ t + t2 + (t + t2 | country), survey[known, ])))
	off <- c(off, sqrt(mean((predict(fit, survey[!known, ]) - survey$fertility[!known])^2)))
}
cat(sprintf("%.2f %.0f\n", mean(off), sum((proc.time() - started)[1:2]) * 1000 / length(off)))
