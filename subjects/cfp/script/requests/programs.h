// Requests that are small programs.

{ "queens", SCRIPT(
    var size = 4;
    var columns = [];
    function safe(row, column) {
        for (var r = 0; r < row; r++) {
            var distance = columns[r] - column;
            if (distance == 0 || distance == row - r || distance == r - row) return false;
        }
        return true;
    }
    function place(row) {
        if (row == size) return 1;
        var ways = 0;
        for (var column = 0; column < size; column++)
            if (safe(row, column)) { columns[row] = column; ways += place(row + 1); }
        return ways;
    }
    print(place(0));
), "2;" },

{ "matrix", SCRIPT(
    function times(a, b) {
        var result = [];
        for (var i = 0; i < 3; i++) {
            var row = [];
            for (var j = 0; j < 3; j++) {
                var sum = 0;
                for (var k = 0; k < 3; k++) sum += a[i][k] * b[k][j];
                row.push(sum);
            }
            result.push(row);
        }
        return result;
    }
    var step = [[1, 1, 0], [0, 1, 1], [0, 0, 1]];
    var power = step;
    for (var n = 0; n < 3; n++) power = times(power, step);
    print(power.join(" "));
), "1,4,6 0,1,4 0,0,1;" },

{ "counter", SCRIPT(
    function counter(by) {
        var count = 0;
        return { step: function () { count += by; return count; }, value: function () { return count; } };
    }
    var ones = counter(1);
    var threes = counter(3);
    for (var i = 0; i < 20; i++) { ones.step(); if (i % 4 == 0) threes.step(); }
    print(ones.value(), threes.value());
), "20 15;" },

{ "tallies", SCRIPT(
    var before = tallied(2);
    for (var i = 0; i < 10; i++) tally(2, i);
    print(tallied(2) >= before + 45);
), "true;" },
