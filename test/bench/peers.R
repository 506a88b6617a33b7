# R's part of the benchmark "peers"; psql's environment says where the tables are.
#
# groups: prints the ms of reading bench_peer and lm with summary for each task, of lm and of lm.fit alone, and the
#         largest difference of a coefficient from the table bench_model
# exact:  prints the coefficients that lm finds for each problem of bench_exact

read_table <- function(query, ...) {
	read.csv(pipe(paste("psql -X -q -c", shQuote(sprintf("COPY (%s) TO STDOUT (FORMAT csv, HEADER)", query)))), ...)
}

# best : the least processor time in ms of three runs, with that of psql
best <- function(run) 1000 * min(replicate(3, sum(system.time(run())[-3])))

read_rows <- function() read_table("SELECT * FROM bench_peer", colClasses = c("integer", rep("numeric", 5)))
by_lm <- function(rows) lapply(split(rows, rows$task), function(group) coef(summary(lm(y ~ a + b + c + d, group))))
by_lm_fit <- function(rows) {
	x <- cbind(1, as.matrix(rows[c("a", "b", "c", "d")]))
	lapply(split(seq_len(nrow(rows)), rows$task), function(i) lm.fit(x[i, ], rows$y[i])$coefficients)
}

groups <- function() {
	rows <- read_rows()
	wml <- read_table("SELECT * FROM bench_model ORDER BY task, position")
	difference <- max(abs(unlist(lapply(by_lm(rows), function(table) table[, 1])) - wml$coefficient))
	cat(best(function() by_lm(read_rows())), best(function() by_lm(rows)), best(function() by_lm_fit(rows)),
		sprintf("%.1e", difference), "\n")
}

exact <- function() {
	rows <- read_table("SELECT problem, array_to_string(x, ' ') AS x, y FROM bench_exact")
	for (problem in split(rows, rows$problem)) {
		x <- as.matrix(read.table(text = problem$x))
		# x has the constant
		found <- coef(lm(problem$y ~ x - 1))
		cat("lm", problem$problem[1], paste(ifelse(is.na(found), "NA", sprintf("%.17g", found)), collapse = ","), "\n")
	}
}

switch(commandArgs(trailingOnly = TRUE), groups = groups(), exact = exact())
