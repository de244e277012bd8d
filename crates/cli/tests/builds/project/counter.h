#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void count(void);
int counted(void);
void add(int number);
int added(void);
#ifdef __cplusplus
}
#endif
