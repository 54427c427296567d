# Puts the facts and the verdict of a report (the first file) between the marks
# of a version (-v pg=18) in a page (the second), with a link to the rest.
FNR == NR && /^## / { rest = 1 }
FNR == NR { if (FNR > 2 && !rest) verdict = verdict $0 "\n"; next }
$0 == "<!-- results " pg " -->" {
	printf "%s\n%sAll runs, with charts: [report](experiment/%s/report.md), [table](experiment/%s/results.csv).\n", $0, verdict, pg, pg
	inside = 1
}
$0 == "<!-- end " pg " -->" { inside = 0 }
!inside && $0 !~ "^<!-- results " pg " -->$" { print }
