// For score.py: calls the C interfaces of other tools request by request, so that none of the time is Python's. Python has
// loaded the libraries and passes their functions. Rows are 32-bit floats. Each function returns 0, or the tool's error.
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// LightGBM, document by document with settings that were read once: LGBM_BoosterPredictForMatSingleRowFast.
typedef int (*LightgbmRow)(void *settings, const void *row, int64_t *length, double *score);

int lightgbm_rows(LightgbmRow predict, void *settings, const float *rows, int64_t count, int64_t width, double *scores) {
    for (int64_t i = 0; i < count; i++) {
        int64_t length;
        int error = predict(settings, rows + i * width, &length, scores + i);
        if (error) return error;
    }
    return 0;
}

// LightGBM, request by request: LGBM_BoosterPredictForMat.
typedef int (*LightgbmMatrix)(void *model, const void *rows, int type, int32_t count, int32_t width, int by_rows, int kind,
                              int first, int trees, const char *parameters, int64_t *length, double *scores);

int lightgbm_requests(LightgbmMatrix predict, void *model, int trees, const float *rows, int64_t count, int64_t width,
                      int64_t request, double *scores) {
    const int FLOAT32 = 0, RAW_SCORE = 1;
    for (int64_t i = 0; i < count; i += request) {
        int64_t length;
        int error = predict(model, rows + i * width, FLOAT32, least(request, count - i), width, 1, RAW_SCORE, 0, trees,
                            "num_threads=1", &length, scores + i);
        if (error) return error;
    }
    return 0;
}

// XGBoost, request by request: XGBoosterPredictFromDense, which is told in JSON where the rows are.
typedef int (*XgboostDense)(void *model, const char *rows, const char *settings, void *matrix, const uint64_t **shape,
                            uint64_t *dimensions, const float **scores);

int xgboost_requests(XgboostDense predict, void *model, const char *settings, const float *rows, int64_t count,
                     int64_t width, int64_t request, double *scores) {
    for (int64_t i = 0; i < count; i += request) {
        int64_t n = least(request, count - i);
        char where[200];
        snprintf(where, sizeof where, "{\"data\":[%llu,true],\"shape\":[%lld,%lld],\"typestr\":\"<f4\",\"version\":3}",
                 (unsigned long long)(uintptr_t)(rows + i * width), (long long)n, (long long)width);
        const uint64_t *shape;
        uint64_t dimensions;
        const float *found;
        int error = predict(model, where, settings, 0, &shape, &dimensions, &found);
        if (error) return error;
        for (int64_t j = 0; j < n; j++) scores[i + j] = found[j];
    }
    return 0;
}

// Treelite's generated C, which adds to the score, document by document. Its rows are unions, with -1 where a value is missing.
typedef union {
    int missing;
    double value;
} Entry;
typedef void (*TreeliteRow)(Entry *row, int raw_score, double *score);

int treelite_rows(TreeliteRow predict, const float *rows, int64_t count, int64_t width, Entry *row, double *scores) {
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < width; j++) {
            float x = rows[i * width + j];
            if (isnan(x)) row[j].missing = -1;
            else row[j].value = x;
        }
        scores[i] = 0;
        predict(row, 1, scores + i);
    }
    return 0;
}
