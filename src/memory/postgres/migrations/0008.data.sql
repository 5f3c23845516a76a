UPDATE deletion SET files = '[]';
