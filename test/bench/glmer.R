# glmer on the table bench_row(task, x, y, known), x[1] being the constant, y yes or no, or a count if FAMILY is poisson; psql's environment says
# where the table is.  Fits the known rows with nAGQ = METHOD (0, or 1 for Laplace) and prints on one line the CPU time of a
# fit in ms, the means, the standard deviations, and the log-loss of the rows not known.  Ends with status 3 when a
# fit takes more than LIMIT seconds.

suppressPackageStartupMessages(library(lme4))

query <- "COPY (SELECT task, y, known::int, array_to_string(x[2:], ' ') FROM bench_row) TO STDOUT (FORMAT csv)"
rows <- read.csv(pipe(paste("psql -X -q -c", shQuote(query))), header = FALSE)
covariates <- as.matrix(read.table(text = as.character(rows[[4]])))
colnames(covariates) <- paste0("x", seq_len(ncol(covariates)))
data <- data.frame(task = factor(rows[[1]]), y = rows[[2]], covariates)
known <- data[rows[[3]] == 1, ]
rest <- data[rows[[3]] == 0, ]

terms <- paste(colnames(covariates), collapse = " + ")
model <- as.formula(sprintf("y ~ %s + (%s | task)", terms, terms))
limit <- as.numeric(Sys.getenv("LIMIT", "120"))
family <- Sys.getenv("FAMILY", "binomial")
method <- as.integer(Sys.getenv("METHOD", "0"))
give_up <- function(error) {
	if (grepl("reached CPU time limit", conditionMessage(error))) quit(status = 3)
	stop(error)
}

setTimeLimit(cpu = limit, transient = TRUE)
time <- system.time(tryCatch(
	fit <- suppressWarnings(suppressMessages(glmer(model, known, family = family, nAGQ = method))), error = give_up))
setTimeLimit()

loss <- NaN
if (nrow(rest) > 0) {
	p <- predict(fit, rest, type = "response", allow.new.levels = TRUE)
	loss <- -mean(if (family == "poisson") dpois(rest$y, p, log = TRUE) else log(ifelse(rest$y == 1, p, 1 - p)))
}
exact <- function(x) format(x, digits = 17, trim = TRUE)
array <- function(x) sprintf("{%s}", paste(exact(x), collapse = ","))
cat(1000 * (time[["user.self"]] + time[["sys.self"]]), array(fixef(fit)), array(attr(VarCorr(fit)$task, "stddev")), exact(loss), "\n")
