"""Results of a test, as TAP lines."""
import sys

count = failed = 0


def result(good, what, why=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}", flush=True)
    for line in str(why).splitlines()[:20] if not good else []:
        print("#", line[:300])


def end():
    print(f"1..{count}")
    sys.exit(failed != 0)
