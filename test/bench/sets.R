# sets.R FOLDER [DATA] : writes sets of tasks from the R packages that are installed to FOLDER, one CSV each: the task, covariates, and
# the response last.  test/bench/shared, coverage and mistyped read such a folder.  DATA is a folder that may have sales_weekly.csv (UCI "Sales
# Transactions Dataset Weekly") and gapminder.csv.

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]

# write(name, package, set, task, response, covariates): expressions in the columns of the set
put <- function(name, package, set, task, response, ...) {
	if (!requireNamespace(package, quietly = TRUE)) return(invisible())
	home <- new.env()
	if (package == "bayesm" && set == "cheese") data(cheese, package = "bayesm", envir = home)
	else suppressWarnings(data(list = set, package = package, envir = home))
	if (!exists(set, envir = home)) return(invisible())
	data <- as.data.frame(get(set, envir = home))
	covariates <- as.list(substitute(list(...)))[-1]
	number <- function(expression) as.numeric(eval(expression, data))
	columns <- lapply(covariates, number)
	names(columns) <- paste0("x", seq_along(columns))
	rows <- data.frame(task = as.character(eval(substitute(task), data)), columns, y = number(substitute(response)))
	rows <- rows[apply(is.finite(as.matrix(rows[-1])), 1, all), ]
	rows <- rows[rows$task %in% names(which(table(rows$task) >= 8)), ]
	write.csv(rows, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

put("math_achievement", "nlme", "MathAchieve", School, MathAch, SES, Sex == "Female", Minority == "Yes")
put("milk", "nlme", "Milk", Cow, protein, Time, Diet == "barley", Diet == "lupins")
put("spruce", "nlme", "Spruce", Tree, logSize, days)
put("soybean", "nlme", "Soybean", Plot, log(weight), Time)
put("ovary", "nlme", "Ovary", Mare, follicles, Time)
put("body_weight", "nlme", "BodyWeight", Rat, weight, Time)
put("language", "nlme", "bdf", schoolNR, langPOST, IQ.verb, IQ.perf, ses, sex == "1")
put("boys", "nlme", "Oxboys", Subject, height, age)
put("chicks", "datasets", "ChickWeight", Chick, weight, Time)
put("theophylline", "datasets", "Theoph", Subject, conc, Time, Wt)
put("sleep", "lme4", "sleepstudy", Subject, Reaction, Days)
put("air", "datasets", "airquality", Month, log(Ozone), Solar.R, Wind, Temp)
put("exams", "mlmRev", "Exam", school, normexam, standLRT, sex == "M", schavg)
put("chemistry", "mlmRev", "Chem97", lea, score, gcsecnt, age, gender == "F")
put("coursework", "mlmRev", "Gcsemv", school, course, written, gender == "F")
put("scottish", "mlmRev", "ScotsSec", second, attain, verbal, social, sex == "F")
put("growth", "mlmRev", "egsingle", schoolid, math, year, retained == "1", lowinc)
put("states", "plm", "Produc", state, log(gsp), log(pcap), log(pc), log(emp), unemp)
put("investment", "plm", "Grunfeld", firm, log(inv), log(value), log(capital))
put("cigarettes", "plm", "Cigar", state, log(sales), log(price), log(ndi), log(pimin), year)
put("gasoline", "plm", "Gasoline", country, lgaspcar, lincomep, lrpmg, lcarpcap)
put("summers", "plm", "SumHes", country, log(gdp), sr, log(pop), year)
put("hours", "plm", "LaborSupply", id, lnhr, lnwg, kids, age)
put("hedonic", "plm", "Hedonic", townid, mv, crim, rm, age, dis, tax, lstat)
put("guns", "AER", "Guns", state, log(violent), log(prisoners), income, density, as.numeric(as.character(year)))
put("boston", "MASS", "Boston", rad, log(medv), log(crim), rm, nox, dis, lstat, ptratio)
put("ames", "modeldata", "ames", Neighborhood, log(Sale_Price), log(Gr_Liv_Area), log(Lot_Area), Year_Built, Total_Bsmt_SF, Garage_Cars)
put("sacramento", "modeldata", "Sacramento", zip, log(price), beds, baths, log(sqft), latitude, longitude)
put("housing", "ggplot2", "txhousing", city, log(sales), log(listings), date, month)
put("diamonds", "ggplot2", "diamonds", paste(cut, color), log(price), log(carat), depth, table)
put("storms", "dplyr", "storms", paste(name, year), pressure, wind, lat, long)
put("cheese", "bayesm", "cheese", gsub(",", "", RETAILER), log(VOLUME), log(PRICE), DISP)
put("pigs", "geepack", "dietox", Pig, Weight, Time, Start)
put("airlines", "AER", "USAirlines", firm, log(cost), log(output), log(price), load)
put("municipalities", "AER", "Municipalities", municipality, log(expenditures), log(revenues), log(grants), as.numeric(as.character(year)))
put("california", "AER", "CASchools", county, math, income, english, lunch, log(students))
put("cars", "ggplot2", "mpg", manufacturer, hwy, displ, year, cyl)
put("assay", "datasets", "DNase", Run, density, log(conc))
put("owls", "glmmTMB", "Owls", Nest, NegPerChick, ArrivalTime, FoodTreatment == "Satiated", BroodSize)
put("sitka", "MASS", "Sitka89", tree, size, Time)
put("carrots", "lmerTest", "carrots", Consumer, Preference, sens1, sens2)
put("televisions", "lmerTest", "TVbo", Assessor, Sharpnessofmovement, TVset == "TV2", TVset == "TV3", Picture == 2, Picture == 3)
put("remifentanil", "nlme", "Remifentanil", ID, log(conc), Time, Rate)
put("mortality", "clubSandwich", "MortalityRates", paste(state, cause), mrate, year, legal, beertaxa, beerpercap)
put("parity", "plm", "Parity", country, ls, lp, is, il)
put("earthquakes", "datasets", "attenu", event, log(accel), log(dist))
put("vocabulary", "carData", "GSSvocab", year, vocab, age, educ, gender == "male")
put("wages", "plm", "Males", nr, wage, exper, school, union == "yes")

if (length(arguments) > 1 && file.exists(sales <- file.path(arguments[2], "sales_weekly.csv"))) {
	wide <- read.csv(sales)
	weeks <- grep("^W[0-9]+$", names(wide))
	week <- rep(seq_along(weeks) - 1, each = nrow(wide))
	write.csv(data.frame(task = wide$Product_Code, x1 = week, x2 = sin(2 * pi * week / 52), x3 = cos(2 * pi * week / 52), y = unlist(wide[weeks])),
		file.path(folder, "sales.csv"), row.names = FALSE, quote = FALSE)
}
if (length(arguments) > 1 && file.exists(survey <- file.path(arguments[2], "gapminder.csv"))) {
	rows <- read.csv(survey)
	for (name in c("fertility", "life_expectancy")) {
		column <- names(rows)[startsWith(names(rows), substr(name, 1, 4))][1]
		write.csv(data.frame(task = gsub("[ ,]", "_", rows$country), x1 = rows$year, x2 = (rows$year - 1980)^2, y = rows[[column]]),
			file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
	}
}
