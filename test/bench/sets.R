# sets.R FOLDER [DATA] : writes sets of tasks from the R packages that are installed to FOLDER, one CSV each: the task, covariates, and
# the response last; and to FOLDER/unseen those on which nothing was chosen.  test/bench/shared, coverage and mistyped read such folders.
# DATA is a folder that may have sales_weekly.csv (UCI "Sales Transactions Dataset Weekly") and gapminder.csv.

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

# Nothing was chosen on these: they tell what the methods are worth on tables of somebody else.
folder <- file.path(folder, "unseen")
dir.create(folder, showWarnings = FALSE)
put("dutch", "MASS", "nlschools", class, lang, IQ, SES, GS)
put("companies", "HSAUR3", "Forbes2000", category, log(marketvalue), log(assets + 0.01), log(sales + 0.01), profits)
put("cake", "lme4", "cake", replicate, angle, temp, recipe == "B", recipe == "C")
put("growth_factor", "nlme", "IGF", Lot, conc, age)
put("fatigue", "nlme", "Fatigue", Path, relLength, cycles)
put("pups", "nlme", "RatPupWeight", Litter, weight, sex == "Male")
put("towns", "plm", "Snmesp", firm, n, w, y, k)
put("spanish", "plm", "Snmesp", firm, y, n, w, k)
put("firms", "plm", "EmplUK", firm, log(emp), log(wage), log(capital), log(output))
put("life", "collapse", "wlddev", iso3c, LIFEEX, year, log(PCGDP))
put("incomes", "collapse", "wlddev", iso3c, log(PCGDP), year, log(POP))
put("fries", "reshape2", "french_fries", subject, potato, buttery, rancid, as.numeric(time))
put("nitrogen", "robustbase", "NOxEmissions", julday, LNOx, LNOxEm, sqrtWS)
put("petersen", "sandwich", "PetersenCL", firm, y, x)
put("innovation", "sandwich", "InstInnovation", company, log(1 + cites), log(sales), institutions, competition)
put("elections", "pscl", "presidentialElections", state, demVote, year)
put("baseball", "plyr", "baseball", id, h, ab, year, hr)
put("pitchers", "plyr", "baseball", team, hr, ab, h, bb)
put("cd4", "timereg", "cd4", id, cd4, visit, cd4.prev)
put("wind", "gstat", "wind", paste(year, month), RPT, VAL, ROS, KIL)
put("belts", "AER", "USSeatBelts", state, log(fatalities), log(miles), income, as.numeric(as.character(year)))
put("star", "AER", "STAR", schoolidk, readk, mathk, experiencek, gender == "female", lunchk == "free")
put("arabidopsis", "lme4", "Arabidopsis", gen, log(1 + total.fruits), nutrient, amd == "clipped")
put("ham", "lmerTest", "ham", Consumer, Informed.liking, Product == "2", Product == "3", Product == "4")
put("attrition", "modeldata", "attrition", JobRole, log(MonthlyIncome), Age, TotalWorkingYears, YearsAtCompany, JobLevel)
put("concrete", "modeldata", "concrete", age, log(compressive_strength), cement, water, superplasticizer, blast_furnace_slag)
put("ozone", "mlbench", "Ozone", V1, V4, V8, V9, V10, V12)
put("cancer", "latticeExtra", "USCancerRates", state, rate.male, rate.female)
put("lending", "modeldata", "lending_club", addr_state, log(1 + annual_inc), log(funded_amnt), int_rate, total_bal_il / 1e4, revol_util)
put("psid", "AER", "PSID1982", education, log(wage), experience, weeks)
put("workers", "AER", "CPS1988", paste(education, region), log(wage), experience, experience^2)
put("sectors", "carData", "Ornstein", sector, interlocks, log(assets), nation == "US")
put("kaiser", "carData", "OBrienKaiserLong", id, score, as.numeric(hour), phase == "post", phase == "pre")
put("pixel", "nlme", "Pixel", Dog, pixel, day, day^2)
put("unemployment", "viridis", "unemp", state, rate, county_fips %% 100)
put("hearing", "MASS", "OME", ID, Correct / Trials, Loud, Noise == "coherent")
