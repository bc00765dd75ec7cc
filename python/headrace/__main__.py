"""The command line, as `python -m headrace`."""

from headrace.cli import main

if __name__ == "__main__":
    main()
