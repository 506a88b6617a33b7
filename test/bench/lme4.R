# lmer on the table bench_row(task, x, y), x[1] being the constant: prints on one line the CPU time of
# a fit in ms, the means, the standard deviations, the residual's, and the log-likelihood; psql's
# environment says where the table is.  Ends with status 3 when a fit takes more than LIMIT seconds of it.

suppressPackageStartupMessages(library(lme4))

query <- "COPY (SELECT task, y, array_to_string(x[2:], ' ') FROM bench_row) TO STDOUT (FORMAT csv)"
rows <- read.csv(pipe(paste("psql -X -q -c", shQuote(query))), header = FALSE)
covariates <- as.matrix(read.table(text = as.character(rows[[3]])))
colnames(covariates) <- paste0("x", seq_len(ncol(covariates)))
data <- data.frame(task = factor(rows[[1]]), y = rows[[2]], covariates)

terms <- paste(colnames(covariates), collapse = " + ")
model <- as.formula(sprintf("y ~ %s + (%s | task)", terms, terms))
limit <- as.numeric(Sys.getenv("LIMIT", "60"))
give_up <- function(error) {
	if (grepl("reached CPU time limit", conditionMessage(error))) quit(status = 3)
	stop(error)
}

best <- Inf
for (run in 1:3) {
	setTimeLimit(cpu = limit, transient = TRUE)
	time <- system.time(tryCatch(fit <- suppressWarnings(suppressMessages(lmer(model, data))), error = give_up))
	setTimeLimit()
	best <- min(best, time[["user.self"]] + time[["sys.self"]])
	if (best > 5) break
}

exact <- function(x) format(x, digits = 17, trim = TRUE)
array <- function(x) sprintf("{%s}", paste(exact(x), collapse = ","))
cat(1000 * best, array(fixef(fit)), array(attr(VarCorr(fit)$task, "stddev")), exact(sigma(fit)),
	exact(as.numeric(logLik(fit))), "\n")
