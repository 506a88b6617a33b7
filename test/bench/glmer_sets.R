# Data sets of R's packages with yes-or-no responses or counts of groups, for test/bench/glmer_sets.  Argument: the set's
# name.  Writes CSV without a header: task, y, exposure, and the features, the first of which is the constant; with "list",
# the names of the sets whose package is installed, with the family of each and the positions of fixed features; with "glmer",
# what glmer loses on the rows of bench_row that are not known, with "glmmTMB" that of a negative binomial.

sets <- list(
	bank = list("bayesm", "binomial", "{}", function() {
		d <- get(data(bank, package = "bayesm"))$choiceAtt
		cbind(d$id, d$choice, 1, 1, as.matrix(d[, -(1:2)]))
	}),
	contraception = list("mlmRev", "binomial", "{3,4,5}", function() {
		d <- get(data(Contraception, package = "mlmRev"))
		cbind(as.integer(d$district), d$use == "Y", 1, 1, d$urban == "Y", d$age / 10, (d$age / 10)^2, d$livch != "0")
	}),
	verbagg = list("lme4", "binomial", "{}", function() {
		d <- get(data(VerbAgg, package = "lme4"))
		cbind(as.integer(d$id), d$r2 == "Y", 1, 1, d$btype == "scold", d$btype == "shout", d$situ == "self", d$mode == "do")
	}),
	cbpp = list("lme4", "binomial", "{2,3,4}", function() {
		d <- get(data(cbpp, package = "lme4"))
		cbind(as.integer(d$herd), d$incidence, d$size, 1, d$period == 2, d$period == 3, d$period == 4)
	}),
	grouseticks = list("lme4", "poisson", "{2,3,4}", function() {
		d <- get(data(grouseticks, package = "lme4"))
		cbind(as.integer(d$BROOD), d$TICKS, 1, 1, d$YEAR == 96, d$YEAR == 97, (d$HEIGHT - 460) / 100)
	}),
	bacteria = list("MASS", "binomial", "{3,4}", function() {
		d <- get(data(bacteria, package = "MASS"))
		cbind(as.integer(d$ID), d$y == "y", 1, 1, d$week > 2, d$trt == "drug", d$trt == "drug+")
	}),
	epil = list("MASS", "poisson", "{2,3,4,5}", function() {
		d <- get(data(epil, package = "MASS"))
		cbind(d$subject, d$y, 1, 1, log(d$base / 4), d$trt == "progabide", log(d$age), d$V4)
	}),

	# from here on, sets that the method was not developed on
	immunisation = list("mlmRev", "binomial", "{3,4,5}", function() {
		d <- get(data(guImmun, package = "mlmRev"))
		cbind(as.integer(d$comm), d$immun == "Y", 1, 1, d$kid2p == "Y", d$momEd != "N", d$ethn == "L", d$rural == "Y")
	}),
	prenatal = list("mlmRev", "binomial", "{2,3,4,5}", function() {
		d <- get(data(guPrenat, package = "mlmRev"))
		cbind(as.integer(d$cluster), d$prenat != "Traditional", 1, 1, d$momEd != "None", d$indig == "Ladino", d$toilet == "Modern", d$ssDist / 10)
	}),
	melanoma = list("mlmRev", "poisson", "{}", function() {
		d <- get(data(Mmmec, package = "mlmRev"))
		cbind(as.integer(d$region), d$deaths, d$expected, 1, d$uvb / 10)
	}),
	respiratory = list("geepack", "binomial", "{2,3,4,5}", function() {
		d <- get(data(respiratory, package = "geepack"))
		cbind(100 * d$center + d$id, d$outcome, 1, 1, d$treat == "A", d$baseline, d$age / 10, d$sex == "M")
	}),
	ohio = list("geepack", "binomial", "{3}", function() {
		d <- get(data(ohio, package = "geepack"))
		cbind(d$id, d$resp, 1, 1, d$age, d$smoke)
	}),
	muscatine = list("geepack", "binomial", "{3}", function() {
		d <- subset(get(data(muscatine, package = "geepack")), !is.na(numobese))
		cbind(d$id, d$numobese, 1, 1, (d$age - 12) / 4, d$gender == "F")
	}),
	toenail = list("HSAUR3", "binomial", "{2,3}", function() {
		d <- get(data(toenail, package = "HSAUR3"))
		cbind(as.integer(d$patientID), d$outcome != "none or mild", 1, 1, d$time / 6, d$treatment == "terbinafine")
	}),
	thought = list("HSAUR3", "binomial", "{3}", function() {
		d <- subset(get(data(schizophrenia2, package = "HSAUR3")), !is.na(disorder))
		cbind(as.integer(d$subject), d$disorder == "present", 1, 1, d$month / 6, d$onset == "> 20 yrs")
	}),
	union = list("plm", "binomial", "{3,4}", function() {
		d <- get(data(Males, package = "plm"))
		cbind(d$nr, d$union == "yes", 1, 1, d$exper / 10, d$married == "yes", (d$school - 12) / 4)
	}),
	disability = list("plm", "binomial", "{2}", function() {
		d <- get(data(LaborSupply, package = "plm"))
		cbind(d$id, d$disab, 1, 1, (d$age - 40) / 10)
	}),
	salamanders = list("glmmTMB", "poisson", "{2,3}", function() {
		d <- get(data(Salamanders, package = "glmmTMB"))
		cbind(as.integer(factor(as.character(d$site))), d$count, 1, 1, d$mined == "no", d$DOY)
	}),
	owls = list("glmmTMB", "poisson", "{3}", function() {
		d <- get(data(Owls, package = "glmmTMB"))
		cbind(as.integer(d$Nest), d$SiblingNegotiation, d$BroodSize, 1, d$FoodTreatment == "Satiated", d$SexParent == "Male")
	}),
	fruits = list("lme4", "poisson", "{}", function() {
		d <- get(data(Arabidopsis, package = "lme4"))
		cbind(d$gen, d$total.fruits, 1, 1, d$nutrient == 8, d$amd == "unclipped")
	}),
	stroop = list("afex", "binomial", "{}", function() {
		d <- subset(get(data(stroop, package = "afex")), study == "2" & !is.na(acc) & trialnum <= 60)
		cbind(as.integer(d$pno), d$acc, 1, 1, d$congruency == "incongruent", (d$trialnum - 30) / 30)
	}),
	quine = list("MASS", "poisson", "{2}", function() {
		d <- get(data(quine, package = "MASS"))
		cbind(as.integer(interaction(d$Eth, d$Age, d$Lrn, drop = TRUE)), d$Days, 1, 1, d$Sex == "M")
	}),
	seizures = list("HSAUR3", "poisson", "{2,3,4}", function() {
		d <- get(data(epilepsy, package = "HSAUR3"))
		cbind(as.integer(d$subject), d$seizure.rate, 1, 1, log(d$base / 4), d$treatment == "Progabide", (d$age - 28) / 10)
	}),
	recreation = list("AER", "poisson", "{}", function() {
		d <- get(data(RecreationDemand, package = "AER"))
		cbind(2 * d$quality + (d$ski == "yes"), d$trips, 1, 1, d$income / 3, d$costS / 100)
	}),
	doctor = list("AER", "poisson", "{}", function() {
		d <- get(data(NMES1988, package = "AER"))
		cbind(as.integer(interaction(d$region, d$chronic, drop = TRUE)), d$visits, 1, 1, d$health == "poor", d$gender == "male", d$insurance == "yes")
	}),
	ships = list("MASS", "poisson", "{2,3}", function() {
		d <- subset(get(data(ships, package = "MASS")), service > 0)
		cbind(as.integer(d$type), d$incidents, d$service / 1000, 1, d$period == 75, d$year >= 70)
	}),
	insurance = list("MASS", "poisson", "{}", function() {
		d <- get(data(Insurance, package = "MASS"))
		cbind(as.integer(interaction(d$District, d$Group)), d$Claims, d$Holders, 1, as.integer(d$Age) - 2.5)
	}),
	lung = list("HSAUR3", "binomial", "{2,3,4,5}", function() {
		d <- get(data(respiratory, package = "HSAUR3"))
		first <- d[d$month == 0, ]
		d <- subset(d, month != 0)
		start <- first$status[match(d$subject, first$subject)]
		cbind(as.integer(d$subject), d$status == "good", 1, 1, d$treatment == "treatment", start == "good", d$age / 10, d$centre == 2)
	}),
	wells = list("carData", "binomial", "{}", function() {
		d <- get(data(Wells, package = "carData"))
		cbind(floor(d$distance / 10), d$switch == "yes", 1, 1, d$arsenic, d$education / 4)
	}),
	voters = list("carData", "binomial", "{}", function() {
		d <- subset(get(data(BEPS, package = "carData")), vote != "Liberal Democrat")
		cbind(d$age, d$vote == "Labour", 1, 1, d$economic.cond.national - 3, (d$Europe - 6) / 3)
	}),
	roles = list("HSAUR3", "binomial", "{2}", function() {
		d <- get(data(womensrole, package = "HSAUR3"))
		cbind(d$education, d$agree, d$agree + d$disagree, 1, d$gender == "Female")[d$agree + d$disagree > 0, ]
	})
)

# glmer of the known rows, and the loss of the others: the table bench_row is as in glmer_sets; or that of glmmTMB's negative binomial
fit_glmer <- function(family, fixed, wider) {
	suppressPackageStartupMessages(library(lme4))
	query <- "COPY (SELECT task, y, exposure, known::int, array_to_string(x, ' ') FROM bench_row) TO STDOUT (FORMAT csv)"
	rows <- read.csv(pipe(paste("psql -X -q -c", shQuote(query))), header = FALSE)
	x <- as.matrix(read.table(text = as.character(rows[[5]])))
	colnames(x) <- paste0("x", seq_len(ncol(x)))
	data <- data.frame(task = factor(rows[[1]]), y = rows[[2]], exposure = rows[[3]], x)
	known <- rows[[4]] == 1
	random <- setdiff(seq_len(ncol(x)), as.integer(strsplit(gsub("[{}]", "", fixed), ",")[[1]]))
	response <- if (family == "binomial") "cbind(y, exposure - y)" else "y"
	offset <- if (family == "binomial") "" else " + offset(log(exposure))"
	model <- as.formula(sprintf("%s ~ 0 + %s + (0 + %s | task)%s", response, paste(colnames(x), collapse = " + "),
		paste(colnames(x)[random], collapse = " + "), offset))
	limit <- as.numeric(Sys.getenv("LIMIT", "120"))
	setTimeLimit(cpu = limit, transient = TRUE)
	fit <- tryCatch(suppressWarnings(suppressMessages(if (wider) glmmTMB::glmmTMB(model, data[known, ], family = glmmTMB::nbinom2)
		else glmer(model, data[known, ], family = family, nAGQ = 1))),
		error = function(e) if (grepl("time limit", conditionMessage(e))) quit(status = 3) else stop(e))
	setTimeLimit()
	rest <- data[!known, ]
	m <- predict(fit, rest, type = "response", allow.new.levels = TRUE)
	if (wider) cat(-mean(dnbinom(rest$y, size = sigma(fit), mu = m, log = TRUE)), "\n")
	else if (family == "binomial") cat(-sum(rest$y * log(m) + (rest$exposure - rest$y) * log1p(-m)) / sum(rest$exposure), "\n")
	else cat(mean(m - rest$y * log(m) + lgamma(rest$y + 1)), "\n")
}

arguments <- commandArgs(TRUE)
name <- arguments[1]
if (name == "list") {
	for (set in names(sets))
		if (requireNamespace(sets[[set]][[1]], quietly = TRUE)) cat(set, sets[[set]][[2]], sets[[set]][[3]], "\n")
} else if (name %in% c("glmer", "glmmTMB")) {
	fit_glmer(arguments[2], arguments[3], name == "glmmTMB")
} else
	write.table(1.0 * sets[[name]][[4]](), sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE)
